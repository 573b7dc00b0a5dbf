import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { type Definitions, readFolder, writeFolder } from '@/cli/as-code/folder'
import { unifiedDiff } from '@/cli/as-code/line-diff'
import { fromYaml, toYaml } from '@/cli/as-code/yaml'
import type { JsonObject } from '@/server/definition/json'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { rounds } from '../support/rounds'

const folder = mkdtempSync(join(tmpdir(), 'millrace-files-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('YAML', () => {
  test('returns any JSON, in the same order, and the same text for it again', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.string({
        unit: fc.constantFrom('\n', '\r', '\t', ' ', '#', ':', '-', '|', "'", '"', 'a', '${', '\u2028', '\ufeff'),
      }),
      fc.constantFrom(
        'yes',
        'no',
        'null',
        '~',
        '1e3',
        '0x1f',
        '1_000',
        '2020-01-01',
        '<<',
        '*a',
        '&a',
        '!!str',
        '---',
        '...',
        '%YAML',
      ),
    )
    const names = text.filter((name) => name !== '__proto__')
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.double({ noDefaultInfinity: true, noNaN: true }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(names, tie('value'), { maxKeys: 4 }),
    }))
    fc.assert(
      fc.property(fc.dictionary(names, value, { maxKeys: 5 }), (made) => {
        const object = JSON.parse(JSON.stringify(made)) as JsonObject
        const yaml = toYaml(object)
        const read = fromYaml(yaml)
        expect(JSON.stringify(read)).toBe(JSON.stringify(object))
        expect(toYaml(read)).toBe(yaml)
      }),
      {
        numRuns: rounds(600, 40_000),
        examples: [[{ a: ' \n', b: 'x\n  y\n' }], [{ a: 2 ** 53 + 2, b: -(2 ** 64), c: 1e21 }]],
      },
    )
  })

  test('shows the lines of a script', () => {
    const code = 'const a = 1\n\nreturn a\n'
    expect(toYaml({ config: { code } })).toBe('config:\n  code: |\n    const a = 1\n\n    return a\n')
  })

  test.each([
    ['a: 1\na: 2', 'unique'],
    ['- a', 'names and values'],
    ['a: .nan', 'a has a value that JSON does not have'],
    ['a: [.inf]', 'a[0] has'],
    ['a: "x', 'line 1'],
    ['a: !thing x', 'tag'],
    ['a: [{b: 9007199254740993}]', 'a[0].b is 9007199254740993, which would be changed to 9007199254740992'],
    ['a: 0x20000000000001', 'would be changed'],
    ['%YAML 1.1\n---\na: yes', 'It must be YAML 1.2'],
    ['a: 1\n---\nb: 2', 'multiple documents'],
  ])('refuses %j', (text, message) => {
    expect(() => fromYaml(text)).toThrow(message)
  })
})

describe('a folder', () => {
  const definitions: Definitions = {
    tools: [],
    agents: [{ id: 'agt_one', name: 'One', instructions: 'Be brief.\nBe kind.' }],
    workflows: SAMPLE_WORKFLOWS.map(({ id, definition }) => ({
      ...(JSON.parse(JSON.stringify(definition)) as JsonObject),
      id,
    })),
  }

  test('is read as it was written, and writing the same again leaves files with their comments', () => {
    const sorted = (all: Definitions) =>
      Object.values(all)
        .flat()
        .sort((a, b) => (a.id < b.id ? -1 : 1))
    writeFolder(folder, definitions, { prune: false })
    expect(sorted(readFolder(folder))).toEqual(sorted(definitions))
    const file = join(folder, 'agents/agt_one.yaml')
    writeFileSync(file, `# Why\n${readFileSync(file, 'utf8')}`)
    expect(writeFolder(folder, definitions, { prune: false })).toMatchObject({ written: [], left: [] })
    expect(readFileSync(file, 'utf8')).toContain('# Why')
    const fewer = { ...definitions, agents: [] }
    expect(writeFolder(folder, fewer, { prune: false }).left).toEqual(['agents/agt_one.yaml'])
    writeFolder(folder, fewer, { prune: true })
    expect(readdirSync(join(folder, 'agents'))).toEqual([])
  })

  test('is written only inside, never through a link, and only if every name can be', () => {
    const own = join(folder, '.own')
    const outside = join(folder, '.outside')
    mkdirSync(join(own, 'tools'), { recursive: true })
    mkdirSync(outside)
    writeFileSync(join(outside, 'kept.yaml'), 'name: Kept\n')
    const write = (...ids: string[]) =>
      writeFolder(own, { tools: ids.map((id) => ({ id, name: 'X' })), agents: [], workflows: [] }, { prune: false })
    expect(() => write('fine', '../../.outside/kept')).toThrow('tools: "../../.outside/kept" is not an id')
    expect(() => write('tool_a', 'TOOL_A')).toThrow('tools/TOOL_A and tools/tool_a differ only in case')
    symlinkSync(join(outside, 'kept.yaml'), join(own, 'tools/linked.yaml'))
    expect(() => write('fine', 'linked')).toThrow('tools/linked.yaml is a symbolic link')
    symlinkSync(join(outside, 'new.yaml'), join(own, 'tools/dangling.yaml'))
    expect(() => write('fine', 'dangling')).toThrow('tools/dangling.yaml is a symbolic link')
    expect(readdirSync(join(own, 'tools')).sort()).toEqual(['dangling.yaml', 'linked.yaml'])
    rmSync(join(own, 'tools'), { recursive: true })
    symlinkSync(outside, join(own, 'tools'))
    expect(() => write('fine')).toThrow('tools is a symbolic link')
    expect(readdirSync(outside)).toEqual(['kept.yaml'])
    expect(readFileSync(join(outside, 'kept.yaml'), 'utf8')).toBe('name: Kept\n')
    rmSync(join(own, 'tools'))
    write('Tool_a')
    expect(() => write('tool_a')).toThrow('tools/tool_a and tools/Tool_a differ only in case')
  })

  test('is refused with names that look like definitions in a wrong place, and read with others', () => {
    const own = join(folder, '.strays')
    const put = (path: string) => {
      mkdirSync(dirname(join(own, path)), { recursive: true })
      writeFileSync(join(own, path), 'name: X')
    }
    const fine = [
      'tools/a.yml',
      'tools/README',
      'tools/.x.yaml.swp',
      'tools/a.yml~',
      'README.md',
      'package.json',
      'docs/x.md',
    ]
    for (const path of [...fine, '.github/workflows/ci.yaml']) put(path)
    expect(readFolder(own).tools).toEqual([{ id: 'a', name: 'X' }])
    for (const path of ['workflow/x.txt', 'Agents/x', 'mine/x.yaml', 'x.yaml', 'tools/x.json', 'tools/more/x.yaml'])
      put(path)
    symlinkSync('nowhere', join(own, 'tools/lost.yaml'))
    expect(() => readFolder(own)).toThrow(
      ': Agents/, mine/, tools/lost.yaml, tools/more, tools/x.json, workflow/, x.yaml.',
    )
  })

  test('names each file that is wrong', () => {
    const agent = (name: string, text: string) => writeFileSync(join(folder, 'agents', name), text)
    agent('a.yaml', 'id: a\nname: A')
    agent('b.yml', 'name: [')
    expect(() => readFolder(folder)).toThrow(/agents\/a.yaml: The id is the name[\s\S]*agents\/b.yaml: /)
    agent('b.yaml', 'name: B')
    expect(() => readFolder(folder)).toThrow('agents/b.yml: another file has this id.')
    rmSync(join(folder, 'agents/b.yml'))
    agent('a b.yaml', 'name: B')
    expect(() => readFolder(folder)).toThrow('agents/a b.yaml: the name must be an id')
    expect(() => readFolder(join(folder, 'nowhere'))).toThrow('There are no definitions in')
  })
})

describe('the diff of two texts', () => {
  /** A replacement for `patch`. */
  function patched(before: string, hunks: string[]): string {
    const old = before.split('\n')
    const result: string[] = []
    let at = 0
    for (const line of hunks) {
      const [, from, count] = /^@@ -(\d+),(\d+) /.exec(line) ?? []
      if (from !== undefined) {
        const start = count === '0' ? Number(from) : Number(from) - 1
        while (at < start) result.push(old[at++] ?? '')
      } else if (line.startsWith('+')) result.push(line.slice(1))
      else {
        expect(old[at]).toBe(line.slice(1))
        if (line.startsWith(' ')) result.push(old[at] ?? '')
        at += 1
      }
    }
    return [...result, ...old.slice(at)].join('\n')
  }

  test('turns one into the other with the fewest changes', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 40 })
    fc.assert(
      fc.property(lines, lines, (left, right) => {
        const [before, after] = [`${left.join('\n')}\n`, `${right.join('\n')}\n`]
        const hunks = unifiedDiff(before, after)
        expect(patched(before, hunks)).toBe(after)
        const changes = hunks.filter((line) => /^[+-]/.test(line)).length
        const [a, b] = [before.slice(0, -1).split('\n'), after.slice(0, -1).split('\n')]
        expect(changes).toBe(a.length + b.length - 2 * commonest(a, b))
      }),
      { numRuns: 500 },
    )
    expect(unifiedDiff('a\n', 'a\n')).toEqual([])
    expect(unifiedDiff('', 'a\nb\n')).toEqual(['@@ -0,0 +1,2 @@', '+a', '+b'])
  })

  /** The length of the longest common subsequence. */
  function commonest(a: string[], b: string[]): number {
    let row = new Array<number>(b.length + 1).fill(0)
    for (const left of a) {
      const next = [0]
      for (const [at, right] of b.entries())
        next.push(left === right ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0))
      row = next
    }
    return row[b.length] ?? 0
  }

  test('of two large texts with nothing in common takes no time', () => {
    const text = (word: string) => Array.from({ length: 20_000 }, (_, n) => `${word} ${n}`).join('\n')
    const startedAt = performance.now()
    expect(unifiedDiff(text('a'), text('b')).length).toBe(40_001)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })
})
