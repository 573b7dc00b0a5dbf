import { describe, expect, test } from 'vitest'
import { type PdfText, readPdfText as readFrom } from '@/server/tools/kinds/builtin/pdf-text'
import { pdfOf } from '../support/sample-files'

const ALL = { maxChars: 1_000_000 }

function readPdfText(tenantId: string, bytes: Uint8Array, limits: Parameters<typeof readFrom>[2]): Promise<PdfText> {
  return readFrom(tenantId, async () => bytes, limits)
}

describe('the text of a PDF', () => {
  test('is that of its pages in order', async () => {
    const found = await readPdfText('ten_a', pdfOf(['Invoice (4711)', 'Thank you']), ALL)
    expect(found).toEqual({ text: 'Invoice (4711)\n\nThank you', pages: 2, cut: false })
  })

  test('is cut after so many characters or pages', async () => {
    const pdf = pdfOf(['One', 'Two', 'Three'])
    expect(await readPdfText('ten_a', pdf, { maxChars: 6 })).toEqual({ text: 'One\n\nT', pages: 3, cut: true })
    expect(await readPdfText('ten_a', pdf, { ...ALL, maxPages: 2 })).toMatchObject({ text: 'One\n\nTwo', cut: true })
  })

  test('of a damaged one is a problem, not a failure of the service', async () => {
    for (const bytes of [Buffer.from('%PDF-1.7\nnothing'), pdfOf(['x']).subarray(0, 60), Buffer.alloc(0)]) {
      expect(await readPdfText('ten_a', bytes, ALL)).toEqual({ problem: 'damaged' })
    }
  })

  test('takes no more than its time, and never the event loop', async () => {
    const turns = countTurns()
    expect(await readPdfText('ten_a', pdfOf(Array(2_000).fill('x')), { ...ALL, maxMs: 1 })).toEqual({
      problem: 'too slow',
    })
    await readPdfText('ten_a', pdfOf(Array(500).fill('x')), ALL)
    expect(turns()).toBeGreaterThan(5)
  })

  test('is read of a few at a time, and of each tenant in its turn', async () => {
    const done: string[] = []
    const read = (tenant: string) => readPdfText(tenant, pdfOf([tenant]), ALL).then(() => done.push(tenant))
    await Promise.all([...Array.from({ length: 8 }, () => read('ten_a')), read('ten_b')])
    expect(done).toHaveLength(9)
    // Two of the first were begun before it came.
    expect(done.indexOf('ten_b')).toBeLessThan(6)
  })

  test('is refused when too many wait', async () => {
    const all = await Promise.all(Array.from({ length: 23 }, () => readPdfText('ten_a', Buffer.alloc(0), ALL)))
    expect(all.filter((one) => 'problem' in one && one.problem === 'busy')).toHaveLength(1)
  })

  test('is held only once it is its turn', async () => {
    let held = 0
    let most = 0
    const read = async () => {
      held += 1
      most = Math.max(most, held)
      return pdfOf(['One'])
    }
    const one = async () => {
      const found = await readFrom('ten_a', read, ALL)
      held -= 1
      return found
    }
    expect(await Promise.all(Array.from({ length: 10 }, one))).toHaveLength(10)
    expect(most).toBeLessThan(4)
  })

  test('of another tenant is read even if one has filled the queue', async () => {
    const many = Promise.all(Array.from({ length: 22 }, () => readPdfText('ten_a', Buffer.alloc(0), ALL)))
    expect(await readPdfText('ten_b', pdfOf(['Mine']), ALL)).toMatchObject({ text: 'Mine' })
    expect((await many).filter((one) => 'problem' in one && one.problem === 'busy')).toHaveLength(1)
  })
})

function countTurns(): () => number {
  let count = 0
  const timer = setInterval(() => count++, 5)
  return () => {
    clearInterval(timer)
    return count
  }
}
