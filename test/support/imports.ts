import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** Every source file that git knows. */
export const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(tsx?|mjs)$/.test(file) && existsSync(file))
export const source = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))

export interface Import {
  from: string
  /** One of our paths without its extension, or the name of a package. */
  to: string
  ours: boolean
  typeOnly: boolean
}

export const imports: Import[] = files.flatMap((from) => {
  const text = source.get(from) ?? ''
  const found = [
    ...text.matchAll(
      /(?:^|\n)\s*(?:import|export)\s+(type\s)?[^'"`;]*?from\s+'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)import\s+'([^']+)'/g,
    ),
  ]
  return found.map((match) => {
    const name = match[2] ?? match[3] ?? match[4] ?? ''
    const ours = name.startsWith('.') || name.startsWith('@/')
    const to = name.startsWith('.')
      ? normalize(join(dirname(from), name))
      : name.startsWith('@/')
        ? name.slice(2)
        : name
    return { from, to, ours, typeOnly: match[1] !== undefined }
  })
})
