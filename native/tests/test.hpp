// SPDX-License-Identifier: BSD-3-Clause
// The native tests: what tests in Python cannot reach, or not without Python's own threads and
// memory around it. Each is a global Test; CHECK reports and goes on.
#pragma once

#include <string>

namespace co2 {

// Run by main() under a name that says what holds.
struct Test {
    Test(const char* name, void (*run)());
};

// May be called from any thread.
void check(bool holds, const std::string& what, const char* file, int line);

// f() throws an Exception whose message contains a text.
template <class Exception, class F>
void check_throws(const char* text, F&& f, const char* statement, const char* file, int line) {
    bool as_expected = false;
    std::string message = "no exception";
    try {
        f();
    } catch (const Exception& e) {
        message = e.what();
        as_expected = message.find(text) != std::string::npos;
    }
    check(as_expected, std::string(statement) + ": " + message, file, line);
}

}  // namespace co2

#define CHECK(condition) ::co2::check((condition), #condition, __FILE__, __LINE__)

#define CHECK_THROWS(Exception, text, statement) \
    ::co2::check_throws<Exception>(text, [&] { statement; }, #statement, __FILE__, __LINE__)
