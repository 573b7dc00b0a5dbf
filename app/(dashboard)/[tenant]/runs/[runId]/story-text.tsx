import { Fragment } from 'react'
import { Link } from '@/app/_ui/link'
import { Clock } from '@/app/_ui/time'
import type { RunOverview } from '@/server/views/runs/overview'
import { useTenant } from '../../tenant-context'
import styles from './answers.module.css'
import { type Piece, storyOf } from './story'

export function StoryText({ run }: { run: RunOverview }) {
  return (
    <p className={styles.story}>
      {storyOf(run).map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces have no identity
        <Fragment key={index}>{shown(piece)}</Fragment>
      ))}
    </p>
  )
}

function RunLink({ runId, text }: { runId: string; text: string }) {
  const { path } = useTenant()
  return <Link href={path(`/runs/${runId}`)}>{text}</Link>
}

function shown(piece: Piece) {
  if (typeof piece === 'string') return piece
  if ('name' in piece) return <strong>{piece.name}</strong>
  if ('runId' in piece) return <RunLink {...piece} />
  return 'quote' in piece ? `“${piece.quote}”` : <Clock at={piece.at} />
}
