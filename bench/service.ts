import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunFile } from '@/cli/data-dir'

export interface Service {
  url: string
  apiKey: string
  webPid(): number
}

/**
 * Runs the product as `npm start` does, on its own data folder. It may call the servers on loopback. `stop` also ends a
 * service that is still starting.
 * @param build the folder of the build; this one by default
 */
export function startService(
  dataDir: string,
  build = process.cwd(),
): { ready: Promise<Service>; stop(): Promise<void> } {
  const child = spawn(process.execPath, ['--import', 'tsx', '--conditions=react-server', 'cli/start.ts', '--json'], {
    cwd: build,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PORT: '0',
      ALLOW_PRIVATE_HOSTS: '127.0.0.1',
      // The long run takes longer than callers usually wait.
      SYNC_START_TIMEOUT_MS: '600000',
      MILLRACE_TEST_STEPS: '1',
      LOG_LEVEL: 'warn',
      NODE_ENV: 'production',
    },
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const ready = readyLine(child, exited).then(({ port, credentialsFile }) => ({
    // Not `localhost`, which resolves to two addresses.
    url: `http://127.0.0.1:${port}`,
    apiKey: (JSON.parse(readFileSync(credentialsFile, 'utf8')) as { apiKey: string }).apiKey,
    webPid: () => (JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as RunFile).web?.pid ?? 0,
  }))
  ready.catch(() => {}) // reported to callers that wait for it
  return {
    ready,
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

function readyLine(child: ChildProcess, exited: Promise<void>): Promise<{ port: number; credentialsFile: string }> {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const ready = text.split('\n').find((line) => line.startsWith('{') && line.includes('"ready"'))
      if (ready) resolve(JSON.parse(ready))
    })
    void exited.then(() => reject(new Error(`the service did not start: ${text}`)))
  })
}
