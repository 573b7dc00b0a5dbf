'use client'
import { Button } from '@mantine/core'
import { Check, CloudOff, LoaderCircle, PencilLine, TriangleAlert } from 'lucide-react'
import motion from '@/app/_ui/turning.module.css'
import type { SaveState } from '../../../_draft/save-state'
import styles from './header.module.css'

export function SaveStateText(props: { save: SaveState; onRetry: () => void; onConflict: () => void }) {
  const { save, onRetry, onConflict } = props
  switch (save.kind) {
    case 'saving':
      return (
        <span className={styles.save}>
          <LoaderCircle size={14} aria-hidden className={motion.turning} /> Saving
        </span>
      )
    case 'saved':
      return (
        <span className={styles.save}>
          <Check size={14} aria-hidden /> {save.at === null ? 'Saved' : `Saved ${clock(save.at)}`}
        </span>
      )
    case 'unsaved':
      return (
        <span className={styles.save}>
          <PencilLine size={14} aria-hidden /> Not saved yet
        </span>
      )
    case 'offline':
      return (
        <span className={`${styles.save} ${styles.warn}`}>
          <CloudOff size={14} aria-hidden /> Offline, kept on this device
          <Button size="compact-xs" variant="default" onClick={onRetry}>
            Retry
          </Button>
        </span>
      )
    case 'failed':
      return (
        <span className={`${styles.save} ${styles.bad}`}>
          <TriangleAlert size={14} aria-hidden /> Not saved: {save.message}
          <Button size="compact-xs" variant="default" onClick={onRetry}>
            Retry
          </Button>
        </span>
      )
    case 'conflict':
      return (
        <span className={`${styles.save} ${styles.bad}`}>
          <TriangleAlert size={14} aria-hidden /> Conflict
          <Button size="compact-xs" variant="default" onClick={onConflict}>
            Resolve
          </Button>
        </span>
      )
  }
}

function clock(at: number): string {
  return new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(at)
}
