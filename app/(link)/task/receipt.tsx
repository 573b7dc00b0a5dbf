'use client'
import { CircleCheck } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { FieldsView } from '@/app/_ui/fields-view'
import { Time } from '@/app/_ui/time'
import type { Fields } from '@/app/(dashboard)/[tenant]/inbox/answer/answer-values'
import { labelOf } from '@/server/definition/declared'
import type { GivenByLink, TaskLinkView } from '@/server/links/view'
import styles from '../link.module.css'
import { VOTES } from './votes'

export function Receipt({ view }: { view: Extract<TaskLinkView, { state: 'used' }> }) {
  const { workspace, title, at, given, vote } = view
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <>
      <h1 className={styles.title} ref={heading} tabIndex={-1}>
        <CircleCheck size={22} aria-hidden className={styles.done} /> Your answer is recorded
      </h1>
      <p className={styles.lead}>{vote === null ? 'You can close this page.' : VOTES[vote]}</p>
      <dl className={styles.receipt}>
        <dt>Asked by</dt>
        <dd>{workspace}</dd>
        <dt>Task</dt>
        <dd>{title}</dd>
        {given && <Given given={given} vote={vote !== null} />}
        <dt>When</dt>
        <dd>
          <Time at={at} absolute />
        </dd>
      </dl>
    </>
  )
}

function Given({ given, vote }: { given: GivenByLink; vote: boolean }) {
  const { label, remark, data } = given
  const fields = given.fields as unknown as Fields
  const shown = Object.entries(data).map(([name, value]) => {
    const field = fields[name]
    return [field ? labelOf(name, field) : name, value] as const
  })
  return (
    <>
      {label !== null && (
        <>
          <dt>{vote ? 'Your vote' : 'Decision'}</dt>
          <dd>
            <strong>{label}</strong>
          </dd>
        </>
      )}
      {shown.length > 0 && (
        <>
          <dt>Your answer</dt>
          <dd>
            <FieldsView value={Object.fromEntries(shown)} label="Your answer" />
          </dd>
        </>
      )}
      {remark !== null && (
        <>
          <dt>Your remark</dt>
          <dd>{remark}</dd>
        </>
      )}
    </>
  )
}
