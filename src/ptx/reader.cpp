#include "ptx/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ptx/read.h"
#include "ptx/resolve.h"

namespace tilepath::ptx {

Result<Module> read(Source source) {
    auto shared = std::make_shared<const Source>(std::move(source));
    return Reader(std::move(shared)).read();
}

Reader::Reader(std::shared_ptr<const Source> source)
    : source_(std::move(source)), lexer_(source_->text()), errors_(*source_, max_errors) {
    module_.source = source_;
    // The highest densities of compiled kernels; untouched pages cost nothing.
    const std::size_t bytes = lexer_.size();
    module_.statements.reserve(bytes / 32);
    module_.instructions.reserve(bytes / 34);
    module_.operands.reserve(bytes / 11);
}

Result<Module> Reader::read() {
    if (check_text()) {
        advance();
        read_module();
    }
    module_.names = names_.texts();
    if (!names_are_missing_ && !errors_.empty() && module_.items.empty()) names_are_missing_ = true;
    if (!names_are_missing_) resolve(module_, names_, errors_);
    if (!errors_.empty()) return std::unexpected(errors_.release());
    module_.names = names_.release();
    return std::move(module_);
}

bool Reader::fail(Span span, std::string message, std::string note) {
    errors_.add(span, std::move(message), std::move(note));
    return false;
}

bool Reader::fail_expected(std::string_view what, std::string note) {
    if (token_.kind == TokenKind::bad && note.empty() && text() == "#")
        note = "preprocessor directives must be run before: cpp -P, or nvcc's own output";
    return fail(token_.span, errors_.full() ? std::string{} : fmt::format("expected {}, found {}", what, found()),
                std::move(note));
}

std::string Reader::found() const {
    switch (token_.kind) {
        case TokenKind::end: return "the end of the file";
        case TokenKind::identifier:
        case TokenKind::dot_word:
        case TokenKind::number:
        case TokenKind::punctuation: return quoted(text());
        case TokenKind::string: return "the string " + quoted(text());
        case TokenKind::bad: break;
    }
    if (text().starts_with("/*")) return "a comment that is never closed";
    if (text().starts_with('"')) return "a string that is not closed on its line";
    if (text().size() == 1 && (text()[0] < 0x20 || text()[0] > 0x7e))
        return fmt::format("the byte 0x{:02x}", static_cast<unsigned char>(text()[0]));
    return quoted(text());
}

bool Reader::expect(char c, std::string_view where) {
    if (take(c)) return true;
    return fail_expected(fmt::format("'{}' {}", c, where));
}

bool Reader::expect_name(std::string_view what, Id& name, Span& span) {
    if (token_.kind != TokenKind::identifier) return fail_expected(what);
    span = token_.span;
    name = intern_token();
    advance();
    return true;
}

bool Reader::on_new_line() const {
    const std::string_view between = lexer_.text({last_end_, token_.span.begin});
    return between.find('\n') != std::string_view::npos;
}

// A statement whose semicolon is missing at the end of its line is complete otherwise: nothing needs to be skipped.
bool Reader::end_statement(std::string_view what) {
    if (take(';')) return true;
    if (token_.kind == TokenKind::end || token_.is('}') || on_new_line()) {
        fail({last_end_, last_end_ + 1}, fmt::format("expected ';' after {}, found {}", what, found()));
        return true;
    }
    return fail_expected(fmt::format("',' or ';' after {}", what));
}

}  // namespace tilepath::ptx
