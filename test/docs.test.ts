import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inlineCode, isLog, pages, prose, tracked } from './docs/pages'

/** The pages about how the house is built: names in them must exist. */
const MAPS = [...pages.keys()].filter(
  (page) => page.endsWith('/README.md') || ['docs/architecture.md', 'docs/journeys.md'].includes(page),
)
const withoutEnding = tracked.map((file) => file.replace(/\.\w+$/, ''))
const folders = new Set(tracked.flatMap((file) => file.split('/').map((_, i, parts) => parts.slice(0, i).join('/'))))
const code = tracked
  .filter((file) => /\.(tsx?|mjs|sql|css|patch|json)$/.test(file) && !/^(package-lock|.*\/meta\/)/.test(file))
  .filter((file) => existsSync(file))
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n')

const endsIn = (all: Iterable<string>, end: string) => [...all].some((one) => one === end || one.endsWith(`/${end}`))

/** GitHub's anchor for a heading. */
function anchorOf(heading: string): string {
  return heading
    .replace(/`|\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

const anchorsOf = (page: string) =>
  [...(pages.get(page) ?? '').matchAll(/^#+ (.+)$/gm)].map(([, it = '']) => anchorOf(it))

describe('the documentation', () => {
  test('every link leads to a file that exists, and to a heading in it', () => {
    const broken = [...pages].flatMap(([page, text]) =>
      [...prose(text).matchAll(/\]\((?:<([^>]+)>|([^()\s]+))\)/g)]
        .map(([, quoted, plain]) => quoted ?? plain ?? '')
        .filter((link) => !/^(https?:|mailto:)/.test(link))
        .filter((link) => {
          const [path = '', anchor] = link.split('#')
          const target = path === '' ? page : normalize(join(dirname(page), path))
          return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor))
        })
        .map((link) => `${page}: ${link}`),
    )
    expect(broken).toEqual([])
  })

  test('the pages about the house name files, folders and names that exist', () => {
    expect(MAPS.length).toBeGreaterThan(20)
    const missing = MAPS.filter((page) => page !== 'patches/README.md' && !isLog(page)).flatMap((page) =>
      inlineCode(prose(pages.get(page) ?? ''))
        .filter((name) => !isThere(name))
        .map((name) => `${page}: ${name}`),
    )
    expect(missing).toEqual([])
  })

  test('the map has every room of the server, and leads to every page of a room', () => {
    const map = pages.get('docs/architecture.md') ?? ''
    const rooms = readdirSync('server').filter((name) => statSync(join('server', name)).isDirectory())
    expect(rooms.filter((room) => !map.includes(`\`${room}\``))).toEqual([])
    const ofRooms = MAPS.filter((page) => page.endsWith('/README.md') && !isLog(page))
    expect(ofRooms.filter((page) => !map.includes(`(../${page})`) && !map.includes(`(<../${page}>)`))).toEqual([])
  })

  test('no page of a room has more than 120 lines, and the map fits on one', () => {
    const most = (page: string) => (/^(docs|server\/interpreter)\//.test(page) ? 150 : 120)
    const long = MAPS.filter((page) => (pages.get(page) ?? '').split('\n').length > most(page) + 1)
    expect(long).toEqual([])
  })
})

/** Names of others that look like ours. */
const FOREIGN = ['pg_basebackup', 'nxtP', 'DATA_DIR/postgres']

/** Whether a name in code exists; true for names that are not ours. */
function isThere(name: string): boolean {
  if (/[<…*$\s(]/.test(name) || FOREIGN.includes(name)) return true
  if (/^[\w.[\]/()-]+\.(tsx?|mjs|sql|md|css)$/.test(name)) return endsIn(tracked, name)
  if (/^[\w-]+(\/[\w-]+)+\/?$/.test(name)) {
    const path = name.replace(/\/$/, '')
    return endsIn(withoutEnding, path) || endsIn(folders, path)
  }
  if (/^([a-z]+[A-Z]\w*|[A-Z][A-Z0-9_]{3,}|[a-z]+(_[a-z]+)+)$/.test(name)) return new RegExp(`\\b${name}\\b`).test(code)
  return true
}
