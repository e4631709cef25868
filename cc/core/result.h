#ifndef TF_QOPS_CC_CORE_RESULT_H_
#define TF_QOPS_CC_CORE_RESULT_H_

#include <sstream>
#include <string>
#include <utility>
#include <variant>

namespace tf_qops {

// What is wrong with an argument, in words a caller of the operator understands.
struct Error {
  std::string message;
};

// Joins its arguments into an Error: Invalid("axis must be ...", axis).
template <typename... Parts>
Error Invalid(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return Error{text.str()};
}

// A value, or the reason why there is none.
template <typename T>
class Result {
 public:
  Result(T value) : content_(std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : content_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return std::holds_alternative<T>(content_); }
  const T& operator*() const { return std::get<T>(content_); }
  const T* operator->() const { return &std::get<T>(content_); }
  const Error& error() const { return std::get<Error>(content_); }

 private:
  std::variant<T, Error> content_;
};

}  // namespace tf_qops

#endif  // TF_QOPS_CC_CORE_RESULT_H_
