// An opencode plugin that asks tinyhost about each tool call and command.
//
// For each event it runs `tinyhost hook opencode` with JSON on standard input. A call that
// tinyhost denies, or cannot judge, does not run. What fails after a call, or around it, is
// written to opencode's log and changes nothing.

import { spawn } from "node:child_process"

const COMMAND = ["tinyhost", "hook", "opencode"]
const DEADLINE_MS = 55_000 // tinyhost itself gives up after 50 s
const KILL_MS = 5_000
const OUTPUT_MAX = 64 * 1024 * 1024

export const Tinyhost = async ({ client, directory }) => {
  const sessions = new Map() // id -> promise of the contexts that plugins gave at its start
  const contexts = new Map() // call id -> contexts for the model, until the tool has run

  const warn = (error) => {
    const message = String(error?.message ?? error)
    return client.app.log({ body: { service: "tinyhost", level: "error", message } }).catch(() => {})
  }

  const tell = (event, sessionID, more) => ask({ event, sessionID, directory, ...more })

  const observe = async (event, sessionID, more) => {
    try {
      return await tell(event, sessionID, more)
    } catch (error) {
      await warn(error)
      return {}
    }
  }

  const begin = (sessionID) => {
    if (!sessionID) return Promise.resolve([])
    if (!sessions.has(sessionID)) {
      const answer = observe("session.start", sessionID).then(async (said) => {
        await Promise.all((said.problems ?? []).map(warn))
        return said.additionalContext ?? []
      })
      sessions.set(sessionID, answer)
    }
    return sessions.get(sessionID)
  }

  const end = async (sessionID) => {
    if (!sessions.has(sessionID)) return
    await sessions.get(sessionID)
    sessions.delete(sessionID)
    await observe("session.end", sessionID)
  }

  return {
    event: async ({ event }) => {
      const id = event.properties?.info?.id ?? event.properties?.sessionID
      if (event.type === "session.created") await begin(id)
      if (event.type === "session.deleted") await end(id)
    },

    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      output.system.push(...(await begin(sessionID)))
    },

    "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
      await begin(sessionID)
      const said = await tell("tool.execute.before", sessionID, { tool, args: output.args })
      if (said.action === "deny") throw new Error(`tinyhost: ${said.reason}`)
      // opencode runs the object that it handed out, not one that we put in its place.
      if (said.args) replace(output.args, said.args)
      if (said.additionalContext) contexts.set(callID, said.additionalContext)
    },

    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      const before = contexts.get(callID) ?? []
      contexts.delete(callID)
      const exit = output.metadata?.exit
      const isError = output.isError === true || (typeof exit === "number" && exit !== 0)
      const given = { tool, args, output: textOf(output), isError }
      const said = await observe("tool.execute.after", sessionID, given)
      const notes = [...before, ...(said.additionalContext ?? [])]
      if (said.output === undefined && notes.length === 0) return
      const text = said.output ?? given.output
      setText(output, notes.length ? [text.trimEnd(), ...notes].join("\n\n") : text)
    },

    "shell.env": async ({ cwd, sessionID }, output) => {
      const said = await observe("shell.env", sessionID, { directory: cwd ?? directory })
      for (const [name, value] of Object.entries(said.env ?? {})) {
        output.env[name] = value ?? undefined // undefined unsets
      }
    },

    dispose: async () => {
      await Promise.all([...sessions.keys()].map(end))
    },
  }
}

function replace(target, values) {
  for (const name of Object.keys(target)) delete target[name]
  Object.assign(target, values)
}

// opencode's own tools answer with a text, those of MCP servers with blocks of content.
function textOf(output) {
  if (typeof output.output === "string") return output.output
  const blocks = Array.isArray(output.content) ? output.content : []
  return blocks.filter((block) => block.type === "text").map((block) => block.text).join("\n")
}

function setText(output, text) {
  if (typeof output.output === "string" || !Array.isArray(output.content)) {
    output.output = text
    return
  }
  const others = output.content.filter((block) => block.type !== "text")
  output.content = [{ type: "text", text }, ...others]
}

// Resolves to tinyhost's answer, {} for none. Rejects where there is none to be had.
function ask(event) {
  return new Promise((resolve, reject) => {
    const [program, ...args] = COMMAND
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] })
    const out = []
    let size = 0
    let errors = ""
    const giveUp = (text) => {
      child.kill("SIGTERM")
      setTimeout(() => child.kill("SIGKILL"), KILL_MS).unref()
      reject(new Error(`tinyhost: ${text}`))
    }
    const timer = setTimeout(() => giveUp(`no answer within ${DEADLINE_MS / 1000} s`), DEADLINE_MS)
    child.on("error", (error) => {
      clearTimeout(timer)
      reject(new Error(`tinyhost cannot be run (${error.message}); it must be on PATH`))
    })
    child.stdout.on("data", (data) => {
      size += data.length
      if (size > OUTPUT_MAX) giveUp("its answer is too long")
      else out.push(data)
    })
    child.stderr.on("data", (data) => {
      errors = (errors + data).slice(-4000)
    })
    child.on("close", (code, signal) => {
      clearTimeout(timer)
      if (code !== 0) {
        reject(new Error(errors.trim() || `tinyhost ended with ${signal ?? `exit code ${code}`}`))
        return
      }
      try {
        const text = Buffer.concat(out).toString("utf8").trim()
        resolve(text ? JSON.parse(text) : {})
      } catch (error) {
        reject(new Error(`tinyhost's answer is not JSON: ${error.message}`))
      }
    })
    // When the process is gone already, its exit code says more than the broken pipe does.
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })
}
