'use client'
import { Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import { useEffect, useState } from 'react'
import type { FileInfo } from '@/server/vault/describe-files'
import { inPlace, loadPart } from '../part'
import { sizeText } from '../size-text'
import styles from './files.module.css'
import type { PreviewKind } from './kinds'
import { Problem, Text } from './parts'
import { useFileSource } from './source'

const waiting = <Skeleton height={160} radius="sm" />
const PdfPages = dynamic(() => loadPart(() => import('./pdf-pages').then((module) => module.PdfPages)), {
  loading: inPlace(waiting),
})
const CsvTable = dynamic(() => loadPart(() => import('./csv-table').then((module) => module.CsvTable)), {
  loading: inPlace(waiting),
})

/** How much of a text is shown. */
const TEXT_BYTES = 256 * 1024

/** The content of a file, from its bytes: text as text, an image and a PDF as pixels. Nothing of it is executed. */
export function Preview({ file, kind }: { file: FileInfo; kind: PreviewKind }) {
  const isText = kind === 'text' || kind === 'csv'
  const { bytes, problem } = useBytes(file, isText ? TEXT_BYTES : Number.POSITIVE_INFINITY)
  if (problem !== null) return <Problem>{problem}</Problem>
  if (bytes === null) return waiting
  if (kind === 'image') return <Picture file={file} bytes={bytes} />
  if (kind === 'pdf') return <PdfPages name={file.name} bytes={bytes} />
  const text = new TextDecoder().decode(bytes)
  const cut = file.size > bytes.byteLength ? `Only the first ${sizeText(TEXT_BYTES)} are shown.` : null
  return kind === 'csv' ? (
    <CsvTable name={file.name} text={text} cut={cut} />
  ) : (
    <Text name={file.name} text={text} cut={cut} />
  )
}

/** A file's first bytes; an error's text is for people. */
function useBytes({ id }: FileInfo, most: number): { bytes: Uint8Array<ArrayBuffer> | null; problem: string | null } {
  const source = useFileSource()
  const [bytes, setBytes] = useState<Uint8Array<ArrayBuffer> | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => {
    const left = new AbortController()
    source
      .read(id, left.signal)
      .then(async (response) => {
        if (!response.ok) return setProblem(problemOf(response.status))
        setBytes(await firstBytes(response, most))
      })
      .catch(() => {
        if (!left.signal.aborted)
          setProblem('The file could not be read. Check the connection, close it and open it again.')
      })
    return () => left.abort()
  }, [source, id, most])
  return { bytes, problem }
}

function problemOf(status: number): string {
  if (status === 403) return 'You may not open this file: its field is sensitive.'
  if (status === 404) return 'This file no longer exists, or you may not open it.'
  if (status === 429) return 'Too many files were opened. Wait a minute and open it again.'
  return 'The file could not be read now. Close it and open it again in a moment.'
}

async function firstBytes(response: Response, most: number): Promise<Uint8Array<ArrayBuffer>> {
  if (most === Number.POSITIVE_INFINITY || !response.body) return new Uint8Array(await response.arrayBuffer())
  const reader = response.body.getReader()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  for (let size = 0; size < most; ) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    size += value.byteLength
  }
  // The rest is of no use.
  reader.cancel().catch(() => {})
  return new Uint8Array(await new Blob(chunks).arrayBuffer()).subarray(0, most)
}

function Picture({ file: { name, type }, bytes }: { file: FileInfo; bytes: Uint8Array<ArrayBuffer> }) {
  const [url, setUrl] = useState<string | null>(null)
  const [broken, setBroken] = useState(false)
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }))
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [bytes, type])
  if (broken)
    return <Problem>This image is damaged or of a kind that this browser cannot show. Download it to open it.</Problem>
  // biome-ignore lint/performance/noImgElement: a local copy of the bytes, which nothing could optimise
  return url && <img className={styles.image} src={url} alt={name} onError={() => setBroken(true)} />
}
