'use client'
import { Time } from '@/app/_ui/time'
import type { TaskLinkView } from '@/server/links/view'
import styles from '../link.module.css'
import { VOTES } from './votes'

type ClosedView = Exclude<TaskLinkView, { state: 'open' | 'used' }>

/** Explains why the task is closed, and what to do. */
export function Closed({ view }: { view: ClosedView }) {
  const [title, text] = wordsOf(view)
  return (
    <>
      <h1 className={styles.title}>{title}</h1>
      <p className={styles.lead}>
        {view.state === 'expired' && view.usedAt && (
          <>
            You answered on <Time at={view.usedAt} absolute />.{' '}
          </>
        )}
        {text}
      </p>
    </>
  )
}

const ENDED: Record<Extract<ClosedView, { state: 'ended' }>['why'], [title: string, text: string]> = {
  answered: ['This has been answered', 'Someone else was first. There is nothing left to do.'],
  'timed out': ['The time to answer is over', 'The work continued without an answer.'],
  stopped: ['This is no longer needed', 'The work that asked for it was stopped.'],
  'not theirs': ['Someone else answers this now', 'It has been assigned to other people since you got the link.'],
  voted: ['This vote has been cast', 'Each person has one vote. There is nothing left to do.'],
}

function wordsOf(view: ClosedView): [title: string, text: string] {
  switch (view.state) {
    case 'unknown':
      return ['This link does not work', 'It may be incomplete. Ask the person who sent it for a new one.']
    case 'revoked':
      return ['This link was withdrawn', 'If you still want to answer, ask the person who sent it for a new one.']
    case 'expired':
      return view.usedAt === null
        ? ['This link has expired', 'Ask the person who sent it for a new one, or sign in and answer in your inbox.']
        : ['This link has been used', view.vote === null ? 'There is nothing left to do.' : VOTES[view.vote]]
    case 'ended':
      return ENDED[view.why]
  }
}
