import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { scenario } from './rounds'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

scenario('every look, width and hostile text of every screen', 1, async () => {
  const { status } = spawnSync('npx', ['playwright', 'test', 'screens', 'screens-fit', 'hostile-texts'], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, SOAK: '1' },
  })
  expect(status).toBe(0)
})
