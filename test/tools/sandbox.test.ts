import { afterAll, describe, expect, it } from 'vitest'
import { runScript, type ScriptRun, stopSandbox } from '@/server/tools/sandbox/run-script'

function run(code: string, more: Partial<ScriptRun> = {}) {
  return runScript({ tenantId: 'ten_a', code, args: {}, dataContext: {}, context: {}, ...more })
}

async function valueFrom(code: string, more: Partial<ScriptRun> = {}) {
  const outcome = await run(code, more)
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`)
  return outcome.value
}

async function failureFrom(code: string, more: Partial<ScriptRun> = {}) {
  const outcome = await run(code, more)
  if (outcome.ok) throw new Error(`returned ${JSON.stringify(outcome.value)}`)
  return outcome
}

afterAll(stopSandbox)

describe('input and output of a script', () => {
  it('has args, dataContext and context in scope', async () => {
    const given = { args: { a: 1 }, dataContext: { order: { id: 'o1' } }, context: { user: 'u1' } }
    expect(await valueFrom('return { args, dataContext, context }', given)).toEqual(given)
  })

  it('works on copies', async () => {
    const args = { list: [1, 2] }
    expect(await valueFrom('args.list.push(3); return args.list.length', { args })).toBe(3)
    expect(args).toEqual({ list: [1, 2] })
  })

  it('passes absent input as null', async () => {
    const absent = { args: undefined, dataContext: undefined, context: undefined }
    expect(await valueFrom('return [args, dataContext, context]', absent)).toEqual([null, null, null])
  })

  it.each([
    ['nothing', '', null],
    ['undefined', 'return undefined', null],
    ['null', 'return null', null],
    ['a number', 'return 6 * 7', 42],
    ['NaN, as JSON does', 'return NaN', null],
    ['a string', "return 'a' + 1", 'a1'],
    ['a boolean', 'return !0', true],
    ['an array', 'return [1, , undefined, () => 1]', [1, null, null, null]],
    ['an object', 'return { a: undefined, b() {}, c: new Date(0) }', { c: '1970-01-01T00:00:00.000Z' }],
    ['what toJSON says', 'return { toJSON: () => ({ a: 1 }) }', { a: 1 }],
    ['a toJSON that says nothing', 'return { toJSON() {} }', null],
    ['a proxy', 'return new Proxy({ a: 1 }, {})', { a: 1 }],
    ['a promise', 'return Promise.resolve(5)', 5],
    ['a thenable', 'return { then(done) { done(6) } }', 6],
  ])('returns %s', async (_, code, expected) => {
    expect(await valueFrom(code)).toEqual(expected)
  })

  it('keeps every kind of text', async () => {
    const text = 'é 漢字 😀 \u0000 \ud800 \u2028 "\\ \ufeff'
    expect(await valueFrom('return { [args]: args, length: args.length }', { args: text })).toEqual({
      [text]: text,
      length: text.length,
    })
    expect(await valueFrom(`return '漢字😀'.length`)).toBe(4)
  })

  it('keeps 150 levels of nesting and 10,000 rows', async () => {
    let deep: unknown = 'bottom'
    for (let i = 0; i < 150; i++) deep = i % 2 ? [deep] : { deep }
    expect(await valueFrom('return args', { args: deep })).toEqual(deep)
    const rows = Array.from({ length: 10_000 }, (_, id) => ({ id, tags: ['a', 'b'] }))
    expect(await valueFrom('return args.filter((row) => row.id % 2).length', { args: rows })).toBe(5000)
  })

  it('drops keys named __proto__', async () => {
    expect(await valueFrom(`return JSON.parse('{"a":1,"__proto__":{"polluted":1}}')`)).toEqual({ a: 1 })
  })

  it('leaves nothing behind for the next script', async () => {
    await valueFrom('globalThis.seen = 1; Array.prototype.map = () => 0; JSON.stringify = () => "0"')
    expect(await valueFrom('return [typeof seen, [1].map((n) => n + 1), JSON.stringify([1])]')).toEqual([
      'undefined',
      [2],
      '[1]',
    ])
  })

  it('awaits promises', async () => {
    const code = `
      const double = async (n) => { await null; return n * 2 }
      const [a, b] = await Promise.all([double(1), double(2)])
      for await (const n of (async function* () { yield a; yield b })()) console.log(n)
      return a + b`
    expect(await run(code)).toMatchObject({ ok: true, value: 6, logs: [{ text: '2' }, { text: '4' }] })
  })

  it('has no way out', async () => {
    const names = [
      'process',
      'require',
      'module',
      'fetch',
      'setTimeout',
      'WebAssembly',
      'Atomics',
      'std',
      'os',
      'print',
    ]
    expect(await valueFrom(`return [${names.map((name) => `typeof ${name}`).join()}]`)).toEqual(
      names.map(() => 'undefined'),
    )
  })

  it('may end with a comment or without a semicolon', async () => {
    expect(await valueFrom('return 1 // done')).toBe(1)
    expect(await valueFrom("'use strict'\nreturn this === undefined")).toBe(true)
  })
})

describe('console output of a script', () => {
  it('keeps lines and levels', async () => {
    const { logs } = await run(`
      console.log('a', 1, { b: [2] }, null, undefined, 3n)
      console.info(Symbol('s')); console.warn(() => 1); console.error(new TypeError('bad')); console.debug('\\0')`)
    expect(logs).toEqual([
      { level: 'log', text: 'a 1 {"b":[2]} null undefined 3n' },
      { level: 'info', text: 'Symbol(s)' },
      { level: 'warn', text: '[function]' },
      { level: 'error', text: 'TypeError: bad' },
      { level: 'debug', text: '\uFFFD' },
    ])
  })

  it('keeps 100 lines', async () => {
    const { logs } = await run('for (let i = 0; i < 500; i++) console.log(i)')
    expect(logs).toHaveLength(101)
    expect(logs[99]).toEqual({ level: 'log', text: '99' })
    expect(logs[100]).toMatchObject({ level: 'warn', truncated: true })
  })

  it('keeps 16 KiB', async () => {
    const { logs } = await run(`console.log('x'.repeat(10_000)); console.log('y'.repeat(1e6)); console.log('z')`)
    expect(logs).toHaveLength(2)
    expect(logs[1]).toMatchObject({ truncated: true })
    expect(logs.reduce((sum, line) => sum + line.text.length, 0)).toBeLessThan(16 * 1024 + 50)
  })

  it('keeps the output before a failure, even one that ends the worker', async () => {
    expect((await run(`console.log('here'); throw 1`)).logs).toEqual([{ level: 'log', text: 'here' }])
    const killed = await run(`console.log('here'); return new Array(1e8).join('abc')`, { timeoutMs: 1_000 })
    expect(killed).toMatchObject({ ok: false, code: 'TIMEOUT', logs: [{ text: 'here' }] })
  })
})

describe('how a script fails', () => {
  it('names the error and the lines of the script', async () => {
    expect(await failureFrom('function inner() {\n  throw new TypeError("bad")\n}\n\ninner()')).toEqual({
      ok: false,
      code: 'EXECUTION_ERROR',
      message: 'bad',
      details: [
        'TypeError',
        expect.stringMatching(/^at inner \(line 2, column \d+\)$/),
        expect.stringMatching(/^at line 5/),
      ],
      logs: [],
      waitedMs: expect.any(Number),
    })
  })

  it('names the line after an await too', async () => {
    const { message, details } = await failureFrom('await null\nconst a = null\nreturn a.b')
    expect(message).toContain("'b' of null")
    expect(details).toEqual(['TypeError', expect.stringMatching(/^at line 3/)])
  })

  it.each([
    ['let a = ;', 'Syntax error in line 1: ', 'at line 1, column 9'],
    ['const a = 1\n\nreturn a +* 2', 'Syntax error in line 3: ', 'at line 3, column 11'],
    ['const a = 1\nif (a) {', 'Syntax error in line 2: ', 'at line 2'],
  ])('reports the position of a syntax error: %j', async (code, start, place) => {
    const failure = await failureFrom(code)
    expect(failure).toMatchObject({ code: 'EXECUTION_ERROR', details: ['SyntaxError', place] })
    expect(failure.message.startsWith(start)).toBe(true)
  })

  it.each([
    ["throw 'plain'", 'plain'],
    ['throw null', 'null'],
    ['throw undefined', 'undefined'],
    ['throw { code: 7 }', '{"code":7}'],
    ['throw { message: "like an error" }', 'like an error'],
    ['throw new Error()', 'Error'],
    ['await Promise.reject(new RangeError("late"))', 'late'],
    ['await new Promise(() => {})', 'The script awaits something that never settles'],
  ])('reports %s', async (code, message) => {
    expect(await failureFrom(code)).toMatchObject({ code: 'EXECUTION_ERROR', message })
  })

  it.each([
    ['a function', 'return () => 1', 'is a function'],
    ['a symbol', 'return Symbol("a")', 'is a symbol'],
    ['a BigInt', 'return { n: 1n }', 'BigInt'],
    ['a cycle', 'const a = []; a.push(a); return a', 'circular'],
    ['too many characters', "return 'x'.repeat(2_000_000)", 'too large: more than 1048576 bytes'],
    ['too many bytes', "return '漢'.repeat(400_000)", 'too large'],
    ['too many levels', 'let a = 1; for (let i = 0; i < 300; i++) a = [a]; return a', 'nested deeper than 180'],
  ])('rejects a result with %s', async (_, code, message) => {
    expect(await failureFrom(code)).toMatchObject({ code: 'OUTPUT_INVALID', message: expect.stringContaining(message) })
  })

  it('enforces the given limits', async () => {
    const small = { maxOutputBytes: 10, memoryMb: 8 }
    expect(await valueFrom("return 'x'.repeat(8)", small)).toBe('xxxxxxxx')
    expect((await failureFrom("return 'x'.repeat(9)", small)).code).toBe('OUTPUT_INVALID')
    expect((await failureFrom('return new ArrayBuffer(9_000_000).byteLength', small)).message).toContain('8 MiB')
    expect(await failureFrom('for (;;);', { timeoutMs: 50 })).toMatchObject({
      code: 'TIMEOUT',
      message: 'The script ran longer than 50 ms',
    })
  })

  it('rejects input that is not JSON or too large', async () => {
    const circular: unknown[] = []
    circular.push(circular)
    expect((await failureFrom('return 1', { args: circular })).message).toContain('not JSON')
    expect((await failureFrom('return 1', { args: 1n })).message).toContain('not JSON')
    expect((await failureFrom('return 1', { args: 'x'.repeat(9_000_000) })).message).toContain('too large')
  })

  it('stops when it is cancelled', async () => {
    const running = failureFrom('for (;;);', { timeoutMs: 600_000, signal: AbortSignal.timeout(100) })
    expect(await running).toMatchObject({ code: 'EXECUTION_ERROR', message: 'The script was cancelled' })
    expect((await failureFrom('return 1', { signal: AbortSignal.abort() })).message).toContain('cancelled')
  })
})
