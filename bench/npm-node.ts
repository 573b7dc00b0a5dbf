import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * Installs Node from npm's own package into a folder, unless it exists already.
 * @param version as npm takes it: `24`, `22.13.0`
 * @returns the program's path
 */
export async function nodeFromNpm(folder: string, version: string): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const program = join(folder, 'node_modules/node/bin/node')
  if (existsSync(program)) return program
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', `node@${version}`], { cwd: folder })
  return program
}
