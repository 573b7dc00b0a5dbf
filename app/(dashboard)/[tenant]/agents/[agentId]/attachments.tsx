'use client'
import { ActionIcon, Loader } from '@mantine/core'
import { Paperclip, X } from 'lucide-react'
import { type Dispatch, type SetStateAction, useEffect } from 'react'
import { useTRPCClient } from '@/app/_trpc/client'
import { UNREACHABLE, visibleError } from '@/app/_trpc/visible-error'
import { encodedFile } from '@/app/_ui/files/encoded-file'
import { MAX_FORM_BYTES } from '@/app/_ui/files/form-limit'
import { giveUp, limitText, useUploads } from '@/app/_ui/files/uploads'
import { sizeText } from '@/app/_ui/size-text'
import styles from './playground.module.css'
import type { Attached } from './use-turn'

const MAX_FILES = 10

/** Files whose upload has begun, and those that were removed before it ended. */
const begun = new WeakSet<File>()
const removed = new WeakSet<File>()

/** The files of the message being written. Each is uploaded as soon as it is chosen. */
export function Attachments({ files, onFiles }: { files: Attached[]; onFiles: Dispatch<SetStateAction<Attached[]>> }) {
  const client = useTRPCClient()
  const uploads = useUploads()
  useEffect(() => {
    const note = (file: File, change: Partial<Attached>) =>
      onFiles((now) => now.map((one) => (one.file === file ? { ...one, ...change } : one)))
    const upload = async (file: File) => {
      try {
        const { fileId } = await client.files.store.mutate(await encodedFile(file))
        if (removed.has(file)) giveUp(uploads, fileId)
        else note(file, { fileId })
      } catch (error) {
        note(file, { problem: whyNot(error) })
      }
    }
    for (const [index, { file }] of files.entries()) {
      if (begun.has(file)) continue
      begun.add(file)
      const obstacle = obstacleOf(file, index)
      if (obstacle) note(file, { problem: obstacle })
      else upload(file).catch(() => {})
    }
  }, [files, onFiles, client, uploads])
  const remove = ({ file, fileId }: Attached) => {
    removed.add(file)
    if (fileId !== null) giveUp(uploads, fileId)
    onFiles((now) => now.filter((one) => one.file !== file))
  }
  return (
    <ul className={styles.files} aria-label="Files of the message">
      {files.map((one, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name
        <li key={`${one.file.name} ${index}`} className={styles.file} aria-busy={one.fileId === null && !one.problem}>
          {one.fileId === null && !one.problem ? <Loader size={14} aria-hidden /> : <Paperclip size={14} aria-hidden />}
          <span className={styles.fileName}>{one.file.name}</span>
          <span className={styles.note}>{sizeText(one.file.size)}</span>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="var(--small-button)"
            aria-label={`Remove ${one.file.name}`}
            onClick={() => remove(one)}
          >
            <X size={14} aria-hidden />
          </ActionIcon>
          {one.problem && (
            <span className={styles.problem} role="alert">
              {one.problem}
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

function obstacleOf(file: File, index: number): string | null {
  if (index >= MAX_FILES) return `A message can have at most ${MAX_FILES} files.`
  if (file.size > MAX_FORM_BYTES) return `It is larger than ${limitText(null)}.`
  return null
}

function whyNot(error: unknown): string {
  const known = visibleError(error)
  return known ? (known.details[0]?.message ?? known.message) : UNREACHABLE
}
