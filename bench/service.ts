import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Runs the product as `npm start` does, on its own data folder. */
export async function startForBench(
  dataDir: string,
): Promise<{ url: string; apiKey: string; rssMiB(): number; stop(): Promise<void> }> {
  const child = spawn(process.execPath, ['--import', 'tsx', '--conditions=react-server', 'cli/start.ts', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      PORT: '0',
      MILLRACE_TEST_STEPS: '1',
      LOG_LEVEL: 'warn',
      NODE_ENV: 'production',
    },
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const ready = text.split('\n').find((line) => line.startsWith('{') && line.includes('"ready"'))
      if (ready) resolve((JSON.parse(ready) as { url: string }).url)
    })
    void exited.then(() => reject(new Error(`the service did not start: ${text}`)))
  })
  const { apiKey } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as { apiKey: string }
  const web = Number(
    (JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as { web?: { pid: number } }).web?.pid,
  )
  return {
    url,
    apiKey,
    rssMiB: () => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${web}/status`, 'utf8'))?.[1]) / 1024),
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
