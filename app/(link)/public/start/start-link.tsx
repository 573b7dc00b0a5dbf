'use client'
import { Button } from '@mantine/core'
import { CircleCheck } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useEffect, useRef } from 'react'
import { inPlace, loadPart } from '@/app/_ui/part'
import { Time } from '@/app/_ui/time'
import { call } from '@/app/(auth)/api'
import type { StartLinkView } from '@/server/links/start/view'
import styles from '../../link.module.css'
import { LinkPage, Waiting } from '../../link-page'

const OpenForm = dynamic(() => loadPart(() => import('./open-form').then((module) => module.OpenForm)), {
  loading: inPlace(<Waiting />),
})

const UNKNOWN: StartLinkView = { state: 'unknown' }
// The transport's types cannot express "any JSON".
const load = async (token: string) => (await call('startLink', { token })) as unknown as StartLinkView

/** A form that starts a workflow, the confirmation, or the reason why it is closed. */
export function StartLink() {
  return (
    <LinkPage load={load} unknown={UNKNOWN} failed="The form could not be loaded">
      {(view, { token, show, reload }) =>
        view.state === 'open' ? (
          <OpenForm token={token} view={view} onSent={show} />
        ) : view.state === 'started' ? (
          <Sent view={view} onAgain={reload} />
        ) : (
          <Closed state={view.state} />
        )
      }
    </LinkPage>
  )
}

function Sent({ view, onAgain }: { view: Extract<StartLinkView, { state: 'started' }>; onAgain: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <>
      <h1 className={styles.title} ref={heading} tabIndex={-1}>
        <CircleCheck size={22} aria-hidden className={styles.done} /> Your form was sent
      </h1>
      <p className={styles.lead}>
        {view.title && `${view.title}, `}
        <Time at={view.at} absolute />. You can close this page.
      </p>
      <div>
        <Button variant="default" onClick={onAgain}>
          Send another
        </Button>
      </div>
    </>
  )
}

const CLOSED = {
  unknown: ['This link does not work', 'It may be incomplete. Ask the person who gave it to you for a new one.'],
  revoked: ['This link was withdrawn', 'If you still want to send the form, ask for a new link.'],
  expired: ['This link has expired', 'If you still want to send the form, ask for a new link.'],
  closed: ['This form is closed', 'It is no longer used.'],
} as const

function Closed({ state }: { state: keyof typeof CLOSED }) {
  const [title, text] = CLOSED[state]
  return (
    <>
      <h1 className={styles.title}>{title}</h1>
      <p className={styles.lead}>{text}</p>
    </>
  )
}
