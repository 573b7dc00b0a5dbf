'use client'
import { Paperclip } from 'lucide-react'
import dynamic from 'next/dynamic'
import type { ReactNode } from 'react'
import { aroundFileReferences, fileReferencesIn } from '@/server/definition/file-ids'
import { inPlace, loadPart } from '../part'
import styles from './files.module.css'
import { useFileSource } from './source'

/** With its preview: loaded only where there is a file. */
const FileRow = dynamic(() => loadPart(() => import('./file-row').then((module) => module.FileRow)), {
  loading: inPlace(<div className={styles.file} />),
})

/** A value that can be the id of a file: the file, or `children` if it is none. */
export function FileValue({ id, children }: { id: string; children: ReactNode }) {
  const file = useFileSource().useFile(id)
  return file ? <FileRow key={file.id} file={file} /> : children
}

/** A text in which files are called by their names. */
export function WithFileNames({ text }: { text: string }) {
  const pieces = aroundFileReferences(text)
  if (pieces.length === 1) return text
  // biome-ignore lint/suspicious/noArrayIndexKey: a text's pieces have no identity of their own
  return pieces.map((piece, index) => (index % 2 === 0 ? piece : <FileName key={index} id={piece} />))
}

function FileName({ id }: { id: string }) {
  const file = useFileSource().useFile(id)
  if (!file) return id
  return (
    <strong className={styles.named}>
      <Paperclip size={13} aria-hidden /> {file.name}
    </strong>
  )
}

/** How many files of one text are listed. */
const LISTED = 20

/**
 * The files that a text names, to open them below it.
 * @param props.beside what else is shown, with its files
 */
export function FilesOfText({ text, beside }: { text: string; beside?: unknown }) {
  const named = fileReferencesIn(text)
  const shown = named.length > 0 && beside !== undefined ? fileReferencesIn(JSON.stringify(beside)) : []
  const ids = named.filter((id) => !shown.includes(id)).slice(0, LISTED)
  return ids.map((id) => (
    <FileValue key={id} id={id}>
      {null}
    </FileValue>
  ))
}
