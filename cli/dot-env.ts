import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Reads `.env` files as Next does for the web process, so that every process sees the same settings. */
export function loadDotEnv(dev: boolean): void {
  const next = createRequire(join(ROOT, 'package.json')).resolve('next/package.json')
  const { loadEnvConfig } = createRequire(next)('@next/env') as {
    loadEnvConfig(dir: string, dev: boolean, log: { info(): void; error(): void }): void
  }
  loadEnvConfig(ROOT, dev, { info() {}, error() {} })
}
