'use client'
import { ActionIcon, Button, Skeleton } from '@mantine/core'
import { Download, File, FileText, Image, Table } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import type { FileInfo } from '@/server/vault/describe-files'
import { inPlace, loadPart } from '../part'
import { sizeText } from '../size-text'
import styles from './files.module.css'
import { previewKind, typeWords } from './kinds'
import { type FileSource, useFileSource } from './source'

const Preview = dynamic(() => loadPart(() => import('./preview').then((module) => module.Preview)), {
  ssr: false,
  loading: inPlace(<Skeleton height={160} radius="sm" />),
})

const ICONS = { image: Image, pdf: FileText, text: FileText, csv: Table }

/** A file: its name, type and size, a download, and its content in place. */
export function FileRow({ file }: { file: FileInfo }) {
  const source = useFileSource()
  const [open, setOpen] = useState(false)
  const [failed, setFailed] = useState(false)
  const kind = previewKind(file)
  const Icon = kind ? ICONS[kind] : File
  const address = source.address(file.id)
  const download = {
    variant: 'subtle',
    color: 'gray',
    size: 'var(--small-button)',
    'aria-label': `Download ${file.name}`,
    title: 'Download',
  } as const
  return (
    <div className={styles.box}>
      <div className={styles.file}>
        <Icon size={16} aria-hidden className={styles.icon} />
        <span className={styles.about}>
          <span className={styles.name}>{file.name}</span>
          <span className={styles.facts}>
            {typeWords(file)}, {sizeText(file.size)}
          </span>
        </span>
        {kind && (
          <Button
            variant="subtle"
            size="compact-sm"
            aria-expanded={open}
            aria-label={`${open ? 'Close' : 'Open'} ${file.name}`}
            onClick={() => setOpen(!open)}
          >
            {open ? 'Close' : 'Open'}
          </Button>
        )}
        {address === null ? (
          <ActionIcon {...download} onClick={() => save(source, file).then(setFailed)}>
            <Download size={16} aria-hidden />
          </ActionIcon>
        ) : (
          <ActionIcon {...download} component="a" href={address} download={file.name}>
            <Download size={16} aria-hidden />
          </ActionIcon>
        )}
      </div>
      {failed && (
        <p className={styles.note} role="alert">
          The file was not downloaded. Try again in a moment.
        </p>
      )}
      {open && kind && <Preview file={file} kind={kind} />}
    </div>
  )
}

/**
 * Always as bytes of no type, so that no browser ever shows the file as a page of ours.
 * @returns whether it failed
 */
async function save(source: FileSource, file: FileInfo): Promise<boolean> {
  const response = await source.read(file.id).catch(() => null)
  const bytes = response?.ok ? await response.arrayBuffer().catch(() => null) : null
  if (!bytes) return true
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = file.name
  link.click()
  // The browser may begin to read it after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
  return false
}
