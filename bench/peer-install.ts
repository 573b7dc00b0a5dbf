import { execFile } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { nodeFromNpm } from './npm-node'

const SOURCES = fileURLToPath(new URL('./peers', import.meta.url))
export const PEERS = ['mastra', 'dbos', 'restate'] as const
export type PeerName = (typeof PEERS)[number]

/** Peers run on this Node if it is new enough for all of them, and otherwise on one from npm. */
const PEERS_NEED = [22, 13] as const
const NODE_FOR_PEERS = '24'

/** Installs the peers from npm into a folder outside the repository. @returns the Node to run them with */
export async function installPeers(scratch: string, log: (message: string) => void): Promise<string> {
  cpSync(SOURCES, scratch, { recursive: true })
  for (const folder of ['.', ...PEERS]) await install(join(scratch, folder), log)
  if (newEnough(process.versions.node)) return process.execPath
  log(`installing Node ${NODE_FOR_PEERS}`)
  return nodeFromNpm(join(scratch, 'node'), NODE_FOR_PEERS)
}

async function install(folder: string, log: (message: string) => void): Promise<void> {
  if (existsSync(join(folder, 'node_modules'))) return
  log(`installing ${Object.keys(manifestOf(folder).dependencies).join(', ')}`)
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder })
}

function manifestOf(folder: string): { dependencies: Record<string, string> } {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function newEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > PEERS_NEED[0] || (major === PEERS_NEED[0] && minor >= PEERS_NEED[1])
}
