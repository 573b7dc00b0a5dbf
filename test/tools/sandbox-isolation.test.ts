import { afterEach, describe, expect, it } from 'vitest'
import { compileEngine, newInstance } from '@/server/tools/sandbox/machine.mjs'
import { ScriptPool } from '@/server/tools/sandbox/pool'
import type { FetchCall } from '@/server/tools/sandbox/protocol'
import { Vm } from '@/server/tools/sandbox/vm.mjs'

/** Describes everything a script can reach from its global object: names, kinds, flags and function texts. */
const INVENTORY = `
  const seen = new Map(), lines = []
  const name = (value) => {
    if (typeof value !== 'object' && typeof value !== 'function' || value === null) return typeof value + ' ' + String(value)
    if (!seen.has(value)) { seen.set(value, seen.size); visit(value) }
    return '#' + seen.get(value)
  }
  const visit = (object) => {
    const own = ['#' + seen.get(object), typeof object, Object.isExtensible(object)]
    if (typeof object === 'function') own.push(Function.prototype.toString.call(object))
    lines.push(own.join(' '))
    own.push(name(Object.getPrototypeOf(object)))
    for (const key of Reflect.ownKeys(object)) {
      const { value, get, set, ...flags } = Object.getOwnPropertyDescriptor(object, key)
      lines.push(['#' + seen.get(object), String(key), JSON.stringify(flags), name(value), name(get), name(set)].join(' '))
    }
  }
  visit((seen.set(globalThis, 0), globalThis))
  return lines.filter((line) => !/0\\.\\d{5}/.test(line))`

/** Attempts by scripts to leave traces behind. */
const LITTER = [
  'globalThis.left = args; var here = 1; eval("var there = 2"); this.own = 3',
  'Object.prototype.left = 1; Array.prototype.map = () => 0; Function.prototype.call = null; JSON.stringify = () => "0"',
  'Promise.prototype.then = function () { return this }; Object.freeze(Object.prototype); delete globalThis.Map',
  'Object.defineProperty(Object.prototype, "then", { get() { throw 1 } }); Object.setPrototypeOf(Array.prototype, null)',
  'Promise.resolve().then(() => { globalThis.left = 1 }); Promise.reject(new Error("left")); new Promise(() => {})',
  'const on = async () => { for (;;) { await null; globalThis.left = 1 } }; on(); return 1',
  'new FinalizationRegistry(() => { globalThis.left = 1 }).register({}, 1)',
  'Symbol.for("left"); globalThis[Symbol.for("left")] = 1; RegExp.prototype.exec = null; /left/.test("left")',
  'console.log = null; console.left = 1; Error.prepareStackTrace = () => "left"; Error.stackTraceLimit = 0',
  'const a = []; for (let i = 0; i < 1e4; i++) a.push("left" + i); globalThis.a = a; throw new Error("left")',
  'const f = () => f() + 1; f()',
  'globalThis.a = []; for (;;) a.push(new Array(1000).fill("left"))',
  'globalThis.left = 1; for (;;);',
  'fetch("http://left.example/"); globalThis.left = fetch; return 1',
  'await fetch("http://left.example/"); return 1',
]

let pool: ScriptPool | undefined
afterEach(() => pool?.stop())

describe('the environment of a script', () => {
  const run = async (tenantId: string, code: string, maxFetches = 0) => {
    if (!pool) throw new Error('there is no pool')
    const timeoutMs = code === INVENTORY ? 20_000 : 400
    const request = { code, input: '[{"mine":1},2,3]', timeoutMs, memoryMb: 64, maxOutputBytes: 1e6, maxFetches }
    const fetch = async (_: FetchCall, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    return (await pool.run({ tenantId, request, fetch })).ending
  }

  it('is the same after any earlier scripts on the same worker', async () => {
    const queue = { scripts: 100, chars: 1_000_000 }
    pool = new ScriptPool({ maxRunning: 1, maxWaiting: 0, maxQueueMs: 60_000, queue, idleMs: 60_000 })
    const first = await run('ten_b', INVENTORY)
    expect(first).toMatchObject({ ok: true, json: expect.stringContaining('stringify') })
    for (const code of LITTER) {
      await run('ten_a', code, code.includes('fetch') ? 5 : 0)
      expect(await run('ten_b', INVENTORY), code).toEqual(first)
    }
  })

  it('has its own random sequence', async () => {
    const queue = { scripts: 100, chars: 1_000_000 }
    pool = new ScriptPool({ maxRunning: 1, maxWaiting: 0, maxQueueMs: 60_000, queue, idleMs: 60_000 })
    const numbers = []
    for (let i = 0; i < 5; i++) numbers.push(await run('ten_a', 'return Math.random()'))
    expect(new Set(numbers.map((ending) => JSON.stringify(ending))).size).toBe(5)
  })
})

describe('the machine that runs scripts', () => {
  async function newVm() {
    const { instance, memory } = await newInstance(await compileEngine(), 64)
    return { memory, vm: new Vm(instance, memory, 64) }
  }
  const held = (memory: WebAssembly.Memory, text: string) => Buffer.from(memory.buffer).includes(text)

  it('keeps nothing of a script in its memory', async () => {
    const { vm, memory } = await newVm()
    const before = Buffer.from(memory.buffer.slice(0))
    vm.context.evalCode("globalThis.kept = 'xyzzy-'.repeat(1000) + Math.random()")
    // beyond the engine's own use
    Buffer.from(memory.buffer).write('xyzzy', 15_000_000)
    expect(held(memory, 'xyzzy-xyzzy')).toBe(true)
    expect(vm.reset()).toBe(true)
    expect(held(memory, 'xyzzy')).toBe(false)
    const after = Buffer.from(memory.buffer)
    let differing = 0
    for (let at = 0; at < after.length; at++) if (after[at] !== before[at]) differing++
    expect(differing, 'only the eight bytes of the random state differ').toBeLessThanOrEqual(8)
  })

  it('gives each script a random sequence that nobody can predict from the last one', async () => {
    const { vm } = await newVm()
    const draw = () => {
      const drawn = vm.context.evalCode('Math.random() + " " + Math.random()')
      return vm.context.getString(vm.context.unwrapResult(drawn))
    }
    const sequences = Array.from({ length: 20 }, () => {
      const sequence = draw()
      expect(vm.reset()).toBe(true)
      return sequence
    })
    expect(new Set(sequences.flatMap((sequence) => sequence.split(' '))).size).toBe(40)
  })

  it('has all its memory free again for the next script', async () => {
    const { vm, memory } = await newVm()
    const size = memory.buffer.byteLength
    for (let i = 0; i < 10; i++) {
      vm.context.evalCode('globalThis.a = []; for (let i = 0; i < 7000; i++) a.push(new ArrayBuffer(1000))')
      expect(memory.buffer.byteLength).toBe(size)
      expect(vm.reset()).toBe(true)
    }
  })

  it('is not used again once its memory has grown, its stack has moved or a host function is gone', async () => {
    const grown = await newVm()
    grown.vm.context.evalCode('globalThis.a = new Uint8Array(3e7).length')
    expect(grown.vm.reset()).toBe(false)

    const moved = await newVm()
    const { context } = moved.vm
    // A call into the engine that died halfway, deep in its stack.
    const dies = () =>
      Reflect.get(context, 'ffi').QTS_Eval(Reflect.get(context, 'ctx').value, 0x7fff_0000, 9, 'a', 0, 0)
    expect(dies).toThrow(WebAssembly.RuntimeError)
    expect(moved.vm.reset()).toBe(false)

    const robbed = await newVm()
    Reflect.get(Reflect.get(robbed.vm.context.runtime, 'hostRefs'), 'groups').clear()
    expect(robbed.vm.reset()).toBe(false)
  })
})
