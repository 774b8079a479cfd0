//! word-count: a tinyhost plugin in Rust that needs only the standard library.
//!
//! The host writes one JSON-RPC 2.0 message per line to our standard input and reads one
//! answer per line from our standard output.

mod json;
mod wire;

use json::Value;
use wire::{HandlerResult, Plugin, RpcError, INVALID_PARAMS};

struct WordCount {
    disposed: bool,
}

fn main() -> std::io::Result<()> {
    wire::serve(&mut WordCount { disposed: false })
}

impl Plugin for WordCount {
    fn manifest(&self) -> Value {
        let text = Value::object([
            ("type", Value::string("string")),
            ("description", Value::string("The text to count")),
        ]);
        let schema = Value::object([
            ("type", Value::string("object")),
            ("properties", Value::object([("text", text)])),
            ("required", Value::Array(vec![Value::string("text")])),
        ]);
        let count = Value::object([
            ("name", Value::string("count")),
            (
                "description",
                Value::string("Count the lines, words and characters of a text"),
            ),
            ("inputSchema", schema),
        ]);
        let hooks = [
            "session.start",
            "permission.ask",
            "tool.execute.after",
            "dispose",
        ];
        Value::object([
            ("id", Value::string("word-count")),
            ("version", Value::string("1.0")),
            ("tools", Value::Array(vec![count])),
            (
                "hooks",
                Value::Array(hooks.iter().map(|name| Value::string(*name)).collect()),
            ),
        ])
    }

    fn call_tool(&mut self, name: &str, args: &Value) -> Option<Result<String, String>> {
        match name {
            "count" => Some(count(args)),
            _ => None,
        }
    }

    fn invoke_hook(&mut self, name: &str, input: &Value) -> HandlerResult {
        match name {
            "session.start" => session_start(input),
            "permission.ask" => permission_ask(input),
            "tool.execute.after" => tool_execute_after(input),
            "dispose" => {
                self.dispose();
                Ok(None)
            }
            _ => Ok(None), // no opinion on hooks that we do not know
        }
    }

    fn dispose(&mut self) {
        if !self.disposed {
            self.disposed = true;
            eprintln!("word-count: disposed");
        }
    }
}

fn count(args: &Value) -> Result<String, String> {
    let text = args
        .get("text")
        .and_then(Value::as_str)
        .ok_or_else(|| r#"count needs a text: {"text": "..."}"#.to_string())?;
    let lines = text.lines().count();
    let blanks: &[char] = &[' ', '\t', '\n', '\r', '\x0c', '\x0b'];
    let words = text.split(blanks).filter(|word| !word.is_empty()).count();
    let characters = text.chars().count();
    Ok(format!(
        "lines {}, words {}, characters {}",
        lines, words, characters
    ))
}

fn session_start(input: &Value) -> HandlerResult {
    wire::require_object("session.start", input)?;
    let directory = input.get("directory").and_then(Value::as_str).unwrap_or("");
    let context = format!("The count tool counts text. Project folder: {}", directory);
    let contexts = Value::Array(vec![Value::string(context)]);
    Ok(Some(Value::object([("additionalContext", contexts)])))
}

fn permission_ask(input: &Value) -> HandlerResult {
    wire::require_object("permission.ask", input)?;
    if input.get("toolName").and_then(Value::as_str) != Some("bash") {
        return Ok(None);
    }
    let args = input
        .get("toolArgs")
        .and_then(Value::as_str)
        .ok_or_else(|| RpcError::new(INVALID_PARAMS, "permission.ask: toolArgs is not a string"))?;
    if !command_in(args).contains("forbidden") {
        return Ok(None);
    }
    Ok(Some(Value::object([
        ("allowed", Value::Bool(false)),
        ("reason", Value::string("the command contains: forbidden")),
    ])))
}

/// Hosts send the arguments as JSON text, or the bare command line.
fn command_in(args: &str) -> String {
    let parsed = json::parse(args).unwrap_or(Value::Null);
    let command = parsed.get("command").and_then(Value::as_str);
    command.unwrap_or(args).to_string()
}

fn tool_execute_after(input: &Value) -> HandlerResult {
    wire::require_object("tool.execute.after", input)?;
    let tool = input.get("toolName").and_then(Value::as_str);
    let ours = matches!(tool, Some("count" | "plugin__word-count__count"));
    match input.get("output").and_then(Value::as_str) {
        Some(output) if ours => Ok(Some(Value::object([
            (
                "output",
                Value::string(format!("{}\n(counted by word-count)", output)),
            ),
            (
                "isError",
                Value::Bool(input.get("isError") == Some(&Value::Bool(true))),
            ),
        ]))),
        _ => Ok(None),
    }
}
