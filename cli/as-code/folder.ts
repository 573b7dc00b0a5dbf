import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { PLURALS, type Plural } from '@/server/as-code/schema'
import type { JsonObject } from '@/server/definition/json'
import { nearestName } from '@/server/definition/nearest'
import { isId } from '@/server/ids'
import { fromYaml, toYaml } from './yaml'

export type Defined = { id: string } & JsonObject
/** A list is missing if the caller may not see its contents. */
export type Definitions = Partial<Record<Plural, Defined[]>>

const FILE = /^(.+)\.ya?ml$/i

export function noDefinitions(): Record<Plural, Defined[]> {
  return { tools: [], agents: [], workflows: [], schedules: [], inboundWebhooks: [] }
}

/** The file of a definition, within the folder. */
export function fileOf(plural: string, id: string): string {
  return `${plural}/${id}.yaml`
}

/** The files of a folder by `kind/id`. @throws Error for two files of one definition, or a name that is not an id */
function filesIn(folder: string): Map<string, { plural: Plural; id: string; path: string }> {
  const found = new Map<string, { plural: Plural; id: string; path: string }>()
  for (const plural of PLURALS) {
    const inside = join(folder, plural)
    if (!existsSync(inside)) continue
    for (const name of readdirSync(inside).sort()) {
      const id = FILE.exec(name)?.[1]
      const path = join(inside, name)
      if (id === undefined || !typeOf(path)?.isFile()) continue
      if (!isId(id)) throw new Error(`${plural}/${name}: the name must be an id: 1 to 80 letters, digits, _ or -.`)
      const other = found.get(`${plural}/${id}`)
      if (other) throw new Error(`${plural}/${name}: another file has this id.`)
      found.set(`${plural}/${id}`, { plural, id, path })
    }
  }
  return found
}

/** Names that no command reads, but that look intentional: they would be missing silently. */
function straysIn(folder: string): string[] {
  const isKind = (name: string) => PLURALS.some((plural) => plural === name)
  return visibleIn(folder).flatMap((name) => {
    const path = join(folder, name)
    if (!typeOf(path)?.isDirectory()) return FILE.test(name) ? [name] : []
    const inside = visibleIn(path)
    if (isKind(name))
      return inside
        .filter((one) => !/^readme|\.md$/i.test(one) && !(FILE.test(one) && typeOf(join(path, one))?.isFile()))
        .map((one) => `${name}/${one}`)
    const misspelt = nearestName(name, PLURALS) !== null || isKind(`${name}s`)
    return misspelt || inside.some((one) => FILE.test(one)) ? [`${name}/`] : []
  })
}

/** Without editors' backup files. */
function visibleIn(folder: string): string[] {
  return typeOf(folder)?.isDirectory() ? readdirSync(folder).filter((name) => !/^\.|~$/.test(name)) : []
}

/** The target of a link, if it exists. */
function typeOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

/** The caller's folder: npm changes to the package's. */
export function folderAt(path: string): string {
  return resolve(process.env.INIT_CWD ?? process.cwd(), path)
}

/** @throws Error that names each invalid file, or if there are no files */
export function readFolder(folder: string): Record<Plural, Defined[]> {
  const definitions = noDefinitions()
  const wrong: string[] = []
  const files = filesIn(folder)
  const strays = straysIn(folder)
  if (strays.length > 0) {
    const places = PLURALS.map((plural) => `${plural}/ID.yaml`).join(', ')
    throw new Error(`Definitions are in ${places}. Rename or remove what is not one: ${strays.sort().join(', ')}.`)
  }
  for (const { plural, id, path } of files.values()) {
    try {
      const value = fromYaml(readFileSync(path, 'utf8'))
      if (Object.hasOwn(value, 'id')) throw new Error('The id is the name of the file. Remove it from the contents.')
      definitions[plural].push({ id, ...value })
    } catch (err) {
      wrong.push(`${fileOf(plural, id)}: ${err instanceof Error ? err.message : String(err)}`)
    }
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
  if (files.size === 0)
    throw new Error(`There are no definitions in ${folder}: no ${PLURALS.map((one) => `${one}/*.yaml`).join(', ')}.`)
  return definitions
}

export interface Written {
  written: string[]
  unchanged: number
  /** Files without an object; deleted on request. */
  left: string[]
}

/**
 * Writes each definition into its file. A file with the same content stays unchanged, comments included.
 * @param prune deletes the files that match no definition
 * @throws Error before anything is written, for an invalid id, two ids that are one file where case does not count, and
 * a symbolic link in place of a file or a kind's folder
 */
export function writeFolder(folder: string, definitions: Definitions, { prune }: { prune: boolean }): Written {
  const files = filesIn(folder)
  for (const [name, { plural }] of files) if (!definitions[plural]) files.delete(name)
  const wanted = placesOf(folder, definitions, files)
  const written: string[] = []
  let unchanged = 0
  for (const { plural, id, path, content } of wanted) {
    if (saysIt(path, content)) unchanged += 1
    else {
      mkdirSync(join(folder, plural), { recursive: true })
      writeOver(path, toYaml(content))
      written.push(fileOf(plural, id))
    }
    files.delete(`${plural}/${id}`)
  }
  if (prune) for (const { path } of files.values()) rmSync(path)
  return { written, unchanged, left: [...files.values()].map(({ plural, id }) => fileOf(plural, id)) }
}

type Place = { plural: Plural; id: string; path: string; content: JsonObject }

/** The target of each definition. The ids may come from another service, so they are validated. */
function placesOf(folder: string, definitions: Definitions, files: ReturnType<typeof filesIn>): Place[] {
  // Names that differ only in case are one file on some machines.
  const taken = new Map([...files.keys()].map((name) => [name.toLowerCase(), name]))
  return PLURALS.flatMap((plural) => {
    refuseLink(join(folder, plural), plural)
    return (definitions[plural] ?? []).map(({ id, ...content }) => {
      if (!isId(id)) throw new Error(`${plural}: ${JSON.stringify(id)} is not an id: 1 to 80 letters, digits, _ or -.`)
      const name = `${plural}/${id}`
      const other = taken.get(name.toLowerCase())
      if (other !== undefined && other !== name)
        throw new Error(`${name} and ${other} differ only in case. Delete or rename one of them.`)
      taken.set(name.toLowerCase(), name)
      const path = files.get(name)?.path ?? join(folder, fileOf(plural, id))
      refuseLink(path, fileOf(plural, id))
      return { plural, id, path, content }
    })
  })
}

function refuseLink(path: string, name: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(`${name} is a symbolic link. Nothing is written through it: replace it with what it links to.`)
}

function writeOver(path: string, text: string): void {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
  // Undefined on Windows.
  const file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | (O_NOFOLLOW ?? 0), 0o666)
  try {
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}

function saysIt(path: string, content: JsonObject): boolean {
  try {
    // The order of keys counts, because forms show it.
    return JSON.stringify(fromYaml(readFileSync(path, 'utf8'))) === JSON.stringify(content)
  } catch {
    return false
  }
}
