import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { checkNode } from '@/cli/node-version'

test('Node 22 and 24 start without a word, 20 with one line, and anything older not at all', () => {
  for (const version of ['22.11.0', '24.0.0', '26.1.0']) expect(checkNode(version)).toBeNull()
  for (const version of ['20.9.0', '20.20.2', '21.7.3', '23.11.0'])
    expect(checkNode(version)).toMatch(/^Node 2[013] no longer gets security fixes\. .*Node 24 or 22\.$/)
  for (const version of ['20.8.1', '18.20.8'])
    expect(() => checkNode(version)).toThrow(`Millrace needs Node 20.9 or newer. This is ${version}.`)
})

test('a start shows the line before anything else', () => {
  const args = ['--import', 'tsx', '--conditions=react-server', 'cli/start.ts', '--json']
  const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, PORT: 'none' } })
  const line = checkNode(process.versions.node)
  expect(stderr.split('\n')).toEqual([...(line ? [line] : []), expect.stringContaining('PORT'), ''])
})
