//! The conversation with the host: one JSON-RPC 2.0 message per line.

use std::io::{self, BufRead, Write};

use crate::json::{self, Value};

pub const METHOD_NOT_FOUND: i32 = -32601;
pub const INVALID_PARAMS: i32 = -32602;

pub struct RpcError {
    code: i32,
    message: String,
}

impl RpcError {
    pub fn new(code: i32, message: impl Into<String>) -> RpcError {
        RpcError {
            code,
            message: message.into(),
        }
    }
}

/// A hook's output; `None` is "no opinion".
pub type HandlerResult = Result<Option<Value>, RpcError>;

pub trait Plugin {
    fn manifest(&self) -> Value;

    /// The tool's text, or the text of its failure; `None` if there is no such tool.
    fn call_tool(&mut self, name: &str, args: &Value) -> Option<Result<String, String>>;

    fn invoke_hook(&mut self, name: &str, input: &Value) -> HandlerResult;

    /// Called at the end of the input too, so it has to allow for a second call.
    fn dispose(&mut self);
}

/// Answers the requests on standard input until its end.
pub fn serve(plugin: &mut impl Plugin) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if let Some(reply) = handle(plugin, &String::from_utf8_lossy(&line)) {
            writeln!(output, "{}", reply)?;
            output.flush()?;
        }
        line.clear();
    }
    plugin.dispose();
    Ok(())
}

/// `None` where no answer is due: for lines that are not messages, for replies, and for
/// notifications, which carry no id.
fn handle(plugin: &mut impl Plugin, line: &str) -> Option<Value> {
    let request = json::parse(line)?;
    let method = request.get("method")?.as_str()?;
    let id = request.get("id").filter(|id| **id != Value::Null)?;
    let params = request.get("params").unwrap_or(&Value::Null);
    let (member, value) = match answer(plugin, method, params) {
        Ok(result) => ("result", result),
        Err(error) => {
            let code = Value::Number(error.code.to_string());
            let message = Value::String(error.message);
            (
                "error",
                Value::object([("code", code), ("message", message)]),
            )
        }
    };
    Some(Value::object([
        ("jsonrpc", Value::string("2.0")),
        ("id", id.clone()),
        (member, value),
    ]))
}

fn answer(plugin: &mut impl Plugin, method: &str, params: &Value) -> Result<Value, RpcError> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or("");
    match method {
        "initialize" => Ok(plugin.manifest()),
        "tool/call" => {
            let args = params.get("args").unwrap_or(&Value::Null);
            let missing = || RpcError::new(INVALID_PARAMS, format!("unknown tool: {}", name));
            Ok(match plugin.call_tool(name, args).ok_or_else(missing)? {
                Ok(content) => Value::object([("content", Value::String(content))]),
                Err(content) => Value::object([
                    ("content", Value::String(content)),
                    ("isError", Value::Bool(true)),
                ]),
            })
        }
        "hook/invoke" => {
            let input = params.get("input").unwrap_or(&Value::Null);
            Ok(match plugin.invoke_hook(name, input)? {
                Some(output) => Value::object([("output", output)]),
                None => Value::object([]),
            })
        }
        _ => Err(RpcError::new(
            METHOD_NOT_FOUND,
            format!("unknown method: {}", method),
        )),
    }
}

pub fn require_object(hook: &str, input: &Value) -> Result<(), RpcError> {
    if input.is_object() {
        return Ok(());
    }
    Err(RpcError::new(
        INVALID_PARAMS,
        format!("{}: the input is not an object", hook),
    ))
}
