import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from './free-port'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SERVER = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'

export interface McpServer {
  /** The URL of its streamable HTTP endpoint, on loopback. */
  url: string
  stop(): Promise<void>
}

/** A real MCP server in a separate process: the reference server of the protocol's authors. */
export async function startMcpServer(): Promise<McpServer> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/mcp`
  const env = { PATH: process.env.PATH, PORT: String(port) } as unknown as NodeJS.ProcessEnv
  const server = spawn(process.execPath, [SERVER, 'streamableHttp'], { cwd: ROOT, env, stdio: 'ignore' })
  const gone = new Promise<void>((done) => server.once('exit', () => done()))
  const stop = async () => {
    server.kill('SIGKILL')
    await gone
  }
  for (let left = 1_000; !(await fetch(url).catch(() => null)); left--) {
    if (left === 0) {
      await stop()
      throw new Error('the MCP server did not start')
    }
    await sleep(100)
  }
  return { url, stop }
}

/** A port that is free now. */
