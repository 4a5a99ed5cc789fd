#include "exec/format_text.h"

#include <bit>
#include <cstdio>
#include <vector>

namespace tilepath::exec {
namespace {

/// `specification` is one conversion as C has it, for an argument of type T.
template <class T>
void append(std::string& out, const std::string& specification, T value) {
    const int length = std::snprintf(nullptr, 0, specification.c_str(), value);
    if (length <= 0) return;
    std::vector<char> buffer(static_cast<std::size_t>(length) + 1);
    std::snprintf(buffer.data(), buffer.size(), specification.c_str(), value);
    out.append(buffer.data(), static_cast<std::size_t>(length));
}

}  // namespace

int format_text(std::string_view format, const std::function<std::uint64_t(std::uint32_t)>& next,
                const std::function<std::string(std::uint64_t)>& string, std::string& out) {
    int taken = 0;
    for (std::size_t i = 0; i < format.size(); ++i) {
        if (format[i] != '%') {
            out += format[i];
            continue;
        }
        const std::size_t begin = i++;
        std::string specification = "%";
        bool wide = false;
        for (; i < format.size(); ++i) {
            const char symbol = format[i];
            if (symbol == 'l' || symbol == 'j' || symbol == 'z' || symbol == 't')
                wide = true;
            else if (symbol == '*')
                specification += std::to_string(static_cast<std::int32_t>(next(4))), ++taken;
            else if (std::string_view("-+ #0123456789.").find(symbol) != std::string_view::npos)
                specification += symbol;
            else if (symbol != 'h')
                break;  // char and short are passed as int
        }
        if (i == format.size()) {
            out += format.substr(begin);
            break;
        }
        const char conversion = format[i];
        ++taken;
        switch (conversion) {
            case 'd':
            case 'i': {
                const std::uint64_t bits = next(wide ? 8 : 4);
                const long long value = wide ? static_cast<long long>(bits) : static_cast<std::int32_t>(bits);
                append(out, specification + "ll" + conversion, value);
                break;
            }
            case 'u':
            case 'o':
            case 'x':
            case 'X':
                append(out, specification + "ll" + conversion, static_cast<unsigned long long>(next(wide ? 8 : 4)));
                break;
            case 'c': append(out, specification + 'c', static_cast<int>(next(4) & 0xFF)); break;
            case 'e':
            case 'E':
            case 'f':
            case 'F':
            case 'g':
            case 'G':
            case 'a':
            case 'A': append(out, specification + conversion, std::bit_cast<double>(next(8))); break;
            case 'p': append(out, specification + 'p', reinterpret_cast<void*>(next(8))); break;
            case 's': append(out, specification + 's', string(next(8)).c_str()); break;
            case '%':
                out += '%';
                --taken;
                break;
            default:  // no conversion of C: printed as it stands
                out += format.substr(begin, i - begin + 1);
                --taken;
        }
    }
    return taken;
}

}  // namespace tilepath::exec
