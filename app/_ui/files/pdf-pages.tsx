'use client'
import { Button, Skeleton } from '@mantine/core'
import type { PDFDocumentProxy } from 'pdfjs-dist'
import { useEffect, useRef, useState } from 'react'
import styles from './files.module.css'
import { openPdf, TextLayer } from './open-pdf'
import { Problem } from './parts'

/** How many pages are shown before "Show more". */
const PAGES = 10
/** A page is drawn sharp, but on no larger canvas than this. */
const MAX_PIXELS = 8_000_000

/** The pages of a PDF, each drawn when it comes into view, with its text to select and for screen readers. */
export function PdfPages({ name, bytes }: { name: string; bytes: Uint8Array }) {
  const [pdf, setPdf] = useState<PDFDocumentProxy | null>(null)
  const [ratio, setRatio] = useState(1)
  const [problem, setProblem] = useState<string | null>(null)
  const [shown, setShown] = useState(PAGES)
  useEffect(() => {
    let closed = false
    // A copy, because the worker takes the bytes away.
    const opening = openPdf(bytes.slice())
    opening
      .then(async ({ document }) => {
        const first = (await document.getPage(1)).getViewport({ scale: 1 })
        if (closed) return
        setRatio(first.width / first.height)
        setPdf(document)
      })
      .catch((err: unknown) => {
        if (!closed) setProblem(problemOf(err))
      })
    return () => {
      closed = true
      opening.then(({ close }) => close()).catch(() => {})
    }
  }, [bytes])
  if (problem !== null) return <Problem>{problem}</Problem>
  if (!pdf) return <Skeleton height={320} radius="sm" />
  const count = Math.min(shown, pdf.numPages)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={styles.pages} tabIndex={0} aria-label={`Content of ${name}`}>
        {Array.from({ length: count }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pages are known by their number
          <Page key={index} pdf={pdf} number={index + 1} ratio={ratio} />
        ))}
      </section>
      {count < pdf.numPages && (
        <Button variant="subtle" size="compact-sm" onClick={() => setShown(shown + PAGES)}>
          Show more pages ({pdf.numPages - count} left)
        </Button>
      )}
    </>
  )
}

function problemOf(err: unknown): string {
  const isLocked = err instanceof Error && err.name === 'PasswordException'
  return isLocked
    ? 'This PDF is protected by a password. Download it to open it.'
    : 'This PDF is damaged and cannot be shown. Download it to try another program.'
}

function Page({ pdf, number, ratio: first }: { pdf: PDFDocumentProxy; number: number; ratio: number }) {
  const frame = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const text = useRef<HTMLDivElement>(null)
  const [ratio, setRatio] = useState(first)
  const [failed, setFailed] = useState(false)
  const seen = useSeen(frame)
  useEffect(() => {
    if (!seen) return
    const leaving = new AbortController()
    draw(pdf, number, { frame, canvas, text }, setRatio, leaving.signal).catch(() => {
      if (!leaving.signal.aborted) setFailed(true)
    })
    return () => leaving.abort()
  }, [seen, pdf, number])
  return (
    <div ref={frame} className={styles.page} style={{ aspectRatio: ratio }}>
      <canvas ref={canvas} aria-hidden />
      <section ref={text} className={styles.words} aria-label={`Page ${number}`} />
      {failed && <Problem>Page {number} cannot be shown.</Problem>}
    </div>
  )
}

/** True from when the element first comes near the screen. */
function useSeen(element: { current: HTMLElement | null }): boolean {
  const [seen, setSeen] = useState(false)
  useEffect(() => {
    if (!element.current) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
      },
      { rootMargin: '400px' },
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element])
  return seen
}

interface Place {
  frame: { current: HTMLElement | null }
  canvas: { current: HTMLCanvasElement | null }
  text: { current: HTMLElement | null }
}

async function draw(
  pdf: PDFDocumentProxy,
  number: number,
  { frame, canvas, text }: Place,
  onRatio: (ratio: number) => void,
  left: AbortSignal,
): Promise<void> {
  const page = await pdf.getPage(number)
  if (left.aborted || !frame.current || !canvas.current || !text.current) return
  const plain = page.getViewport({ scale: 1 })
  onRatio(plain.width / plain.height)
  const scale = frame.current.clientWidth / plain.width
  const sharp = Math.min(window.devicePixelRatio || 1, 2, Math.sqrt(MAX_PIXELS / (plain.width * plain.height)) / scale)
  const viewport = page.getViewport({ scale: scale * sharp })
  canvas.current.width = Math.max(1, Math.floor(viewport.width))
  canvas.current.height = Math.max(1, Math.floor(viewport.height))
  const drawing = page.render({ canvas: canvas.current, viewport })
  left.addEventListener('abort', () => drawing.cancel())
  await drawing.promise
  if (left.aborted) return
  text.current.replaceChildren()
  text.current.style.setProperty('--total-scale-factor', String(scale))
  const layer = new TextLayer({
    textContentSource: page.streamTextContent(),
    container: text.current,
    viewport: page.getViewport({ scale }),
  })
  left.addEventListener('abort', () => layer.cancel())
  await layer.render()
}
