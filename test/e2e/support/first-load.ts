import { gzipSync } from 'node:zlib'
import type { APIRequestContext } from '@playwright/test'

/** The size of each script, measured once, because pages share most of them. */
const known = new Map<string, Promise<number>>()

/**
 * The JavaScript for a page's first load, in kB (1,000 bytes) of gzip: every script that its HTML refers to, as a tag
 * or as part of a component. Code that a page loads later, on demand, does not count.
 */
export async function firstLoad(request: APIRequestContext, address: string): Promise<number> {
  const answer = await request.get(address)
  if (!answer.ok()) throw new Error(`${address} answered ${answer.status()}`)
  const html = await answer.text()
  const legacy = new Set(
    [...html.matchAll(/<script[^>]*noModule[^>]*src="([^"]+)"|src="([^"]+)"[^>]*noModule/gi)].map((match) =>
      nameOf(match[1] ?? match[2] ?? ''),
    ),
  )
  const names = new Set([...html.matchAll(/static\/chunks\/[\w.~%/-]+?\.js/g)].map(([name]) => name))
  const sizes = [...names].filter((name) => !legacy.has(name)).map((name) => sizeOf(request, name))
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1000
}

function nameOf(source: string): string {
  return /static\/chunks\/[\w.~%/-]+?\.js/.exec(source)?.[0] ?? ''
}

function sizeOf(request: APIRequestContext, name: string): Promise<number> {
  const size = known.get(name) ?? measure(request, name)
  known.set(name, size)
  return size
}

async function measure(request: APIRequestContext, name: string): Promise<number> {
  const answer = await request.get(`/_next/${name}`)
  if (!answer.ok()) throw new Error(`${name} answered ${answer.status()}`)
  return gzipSync(await answer.body()).length
}
