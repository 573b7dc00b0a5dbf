'use client'
import { Button } from '@mantine/core'
import { Check, CloudOff, LoaderCircle, PencilLine, TriangleAlert } from 'lucide-react'
import { Clock } from '@/app/_ui/time'
import motion from '@/app/_ui/turning.module.css'
import type { DraftState } from './draft-state'
import styles from './versioned.module.css'

/** The draft's save state in words; empty without a draft. */
export function SaveStateText(props: {
  state: DraftState<object>
  /** Why a text on the page is not part of the draft yet. */
  problem: string | null
  onRetry: () => void
}) {
  const { state, problem, onRetry } = props
  const { save, known } = state
  const retry = (
    <Button size="compact-xs" variant="default" onClick={onRetry}>
      Retry
    </Button>
  )
  if (save.kind === 'saved' && problem !== null) {
    return (
      <span className={styles.save} role="status" data-kind="unfinished">
        <PencilLine size={14} aria-hidden /> Not in the draft yet, kept in this browser: {problem}
      </span>
    )
  }
  if (save.kind === 'saved' && known.draft.at === null) return null
  return (
    <span className={styles.save} role="status" data-kind={save.kind}>
      {save.kind === 'saved' && known.draft.at !== null && (
        <>
          <Check size={14} aria-hidden />
          <span>
            Draft saved {known.draft.byName && `by ${known.draft.byName}, `}
            <Clock at={known.draft.at} />
          </span>
        </>
      )}
      {save.kind === 'unsaved' && (
        <>
          <PencilLine size={14} aria-hidden /> Not saved yet
        </>
      )}
      {save.kind === 'saving' && (
        <>
          <LoaderCircle size={14} aria-hidden className={motion.turning} /> Saving…
        </>
      )}
      {save.kind === 'offline' && (
        <>
          <CloudOff size={14} aria-hidden /> Offline, kept in this browser {retry}
        </>
      )}
      {save.kind === 'failed' && (
        <>
          <TriangleAlert size={14} aria-hidden /> Not saved: {save.message} {retry}
        </>
      )}
      {save.kind === 'conflict' && (
        <>
          <TriangleAlert size={14} aria-hidden /> Not saved: choose below
        </>
      )}
    </span>
  )
}
