import { afterAll, describe, expect, it } from 'vitest'
import { runScript, type ScriptRun, stopSandbox } from '@/server/tools/sandbox/run-script'

afterAll(stopSandbox)

const run = (code: string, more: Partial<ScriptRun> = {}) =>
  runScript({
    tenantId: 'ten_a',
    code,
    args: {},
    dataContext: {},
    context: {},
    timeoutMs: 20_000,
    memoryMb: 16,
    ...more,
  })

const MESSAGE = 'The script ran out of memory: it may use 16 MiB'
const FULL = 'globalThis.a = []; try { for (;;) a.push({}) } catch {}'
/** Leaves less than 16 bytes. */
const BRIM = `globalThis.a = []
  for (let n = 1e6; n >= 1; n = Math.floor(n / 2)) try { for (;;) a.push(new ArrayBuffer(n)) } catch {}
  try { for (;;) a.push([]) } catch {}`

describe('a script that runs out of memory fails with a message that says so', () => {
  it.each([
    // strings
    "let s = 'x'; for (;;) s += s",
    "const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)",
    "return 'x'.repeat(1e8)",
    "return 'x'.repeat(2 ** 30)",
    "return 'x'.padEnd(2 ** 30)",
    "return 'x,'.repeat(4e6).split(',').length",
    "return 'a'.repeat(1e6).replace(/a/g, 'x'.repeat(1000)).length",
    "return 'x'.repeat(4e6).normalize('NFD')",
    "const s = 'é'.repeat(3e6); return s.localeCompare(s + 'a')",
    "return 'x'.repeat(4e6).replace(/(x+)+$/, '')",
    // arrays, buffers and objects
    'return new ArrayBuffer(2 ** 31 - 1).byteLength',
    'const a = []; for (;;) a.push(new ArrayBuffer(1e6))',
    'return new Array(2 ** 32 - 1).fill(0)',
    'const a = [1]; for (;;) a.push(...a.slice(0, 1000))',
    'let a = [1]; for (;;) a = a.concat(a)',
    'let a = null; for (;;) a = [a]',
    'let a = null; for (;;) a = { a }',
    'const a = []; for (;;) a.push(() => a)',
    "const o = {}; for (let i = 0; ; i++) o['k' + i] = i",
    'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })',
    'const a = []; for (;;) a.push(new Proxy({}, {}), /x/g, new Date())',
    // promises and generators
    'const a = []; for (;;) a.push(new Promise(() => {}))',
    'for (;;) Promise.resolve().then(() => {})',
    'const a = []; const go = async () => { a.push(new Uint8Array(1e5)); await null; return go() }; await go()',
    'const a = []; for await (const n of (async function* () { for (;;) yield Array(1e3).fill(1) })()) a.push(n)',
    // in the code, the console and the result
    "return eval('[' + '1,'.repeat(1e6) + ']').length",
    "const a = []; console.log('x'); console.log({ toJSON() { for (;;) a.push(Array(1e3).fill(1)) } }); return a.map((x) => [x])",
    "const s = 'x'.repeat(5e6); return { a: s, b: s, c: s, d: s }",
    "return Array(1000).fill('x'.repeat(1e5))",
    'const a = []; return { toJSON() { for (;;) a.push(Array(1e3).fill(1)) } }',
    'const a = []; return { get x() { for (;;) a.push(Array(1e3).fill(1)) } }',
    // after it caught the error once
    `${FULL} return a`,
    `${FULL} a.x.y`,
    `${FULL} throw new Error('mine')`,
    `${FULL} await new Promise(() => {})`,
    `${BRIM} return a.b.c`,
    `${BRIM} throw new Error('mine')`,
    `${BRIM} await new Promise((done) => done(1)); return 1`,
  ])('%s', async (code) => {
    expect(await run(code)).toMatchObject({ ok: false, code: 'EXECUTION_ERROR', message: MESSAGE, details: [] })
  })

  it('when its arguments do not fit', async () => {
    const args = JSON.parse(`[${'[],'.repeat(500_000)}1]`)
    expect(await run('return 1', { args })).toMatchObject({ code: 'EXECUTION_ERROR', message: MESSAGE })
  })

  it('with the amount of memory that it may use', async () => {
    expect(await run('const a = []; for (;;) a.push(new ArrayBuffer(1e6))', { memoryMb: 64 })).toMatchObject({
      code: 'EXECUTION_ERROR',
      message: 'The script ran out of memory: it may use 64 MiB',
    })
  })
})

describe('a script with enough memory', () => {
  it('keeps its own error, however much it used', async () => {
    const code = "globalThis.a = new Uint8Array(50e6); throw new Error('mine')"
    expect(await run(code, { memoryMb: 64 })).toMatchObject({ code: 'EXECUTION_ERROR', message: 'mine' })
  })

  it.each([
    ["return 'x'.repeat(-1)", 'RangeError'],
    ['return new Array(-1)', 'RangeError'],
    ['const f = () => f() + 1; return f()', 'InternalError'],
  ])('is not reported as out of memory: %s', async (code, name) => {
    const outcome = await run(code)
    expect(outcome).toMatchObject({ code: 'EXECUTION_ERROR', details: expect.arrayContaining([name]) })
    expect(outcome).not.toMatchObject({ message: MESSAGE })
  })
})
