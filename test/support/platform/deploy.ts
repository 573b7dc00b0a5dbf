import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/**
 * Copies the part of a build that a platform uses into a folder: the files that Next traced for its server and routes,
 * and those it lists as required by the server. Nothing else of the checkout exists at run time.
 */
export function deployTo(folder: string, root: string): void {
  const built = join(root, '.next')
  const needed = JSON.parse(readFileSync(join(built, 'required-server-files.json'), 'utf8')) as { files: string[] }
  const traces = readdirSync(built, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.nft.json'))
  const wanted = new Set(needed.files.map((file) => join(root, file)))
  for (const name of traces) {
    const trace = join(built, name)
    // The file it belongs to; the traces of Next's own server have none in the build.
    wanted.add(trace.slice(0, -'.nft.json'.length))
    const { files } = JSON.parse(readFileSync(trace, 'utf8')) as { files: string[] }
    for (const file of files) wanted.add(resolve(dirname(trace), file))
  }
  for (const file of wanted) place(file, join(folder, relative(root, file)))
}

function place(from: string, to: string): void {
  const stat = existsSync(from) ? lstatSync(from) : undefined
  if (!stat || existsSync(to)) return
  mkdirSync(dirname(to), { recursive: true })
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to)
  else if (stat.isFile()) linkOrCopy(from, to)
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to) // on another disk
  }
}
