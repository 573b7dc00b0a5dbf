import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A command's results. */
export interface Outcome {
  code: number
  stdout: string
  stderr: string
}

/** The admin command, with settings of its own. */
export function adminOn(settings: Record<string, string>) {
  return async (...args: string[]): Promise<Outcome> => {
    const command = ['--import', 'tsx', '--conditions=react-server', 'cli/admin.ts', ...args]
    const env = { ...process.env, ENCRYPTION_KEY: '', INIT_CWD: '', ...settings }
    try {
      return { code: 0, ...(await run(process.execPath, command, { env })) }
    } catch (error) {
      return error as Outcome
    }
  }
}
