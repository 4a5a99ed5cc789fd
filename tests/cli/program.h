// The built program, run as a user runs it.
#pragma once
#include <filesystem>
#include <string>

namespace tilepath::cli {

struct Finished {
    int status = -1;  ///< 128 + n: ended by signal n
    std::string out, err;
};

/// A folder of its own for one test, removed afterwards.
class Folder {
  public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void write(const std::string& name, const std::string& text) const;
    std::string read(const std::string& name) const;

    /// A shell command in this folder; `tilepath` in it is the built program.
    Finished shell(const std::string& command) const;

  private:
    std::filesystem::path path_;
};

}  // namespace tilepath::cli
