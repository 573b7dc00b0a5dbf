'use client'
import dynamic from 'next/dynamic'
import { inPlace, loadPart } from '@/app/_ui/part'
import { call } from '@/app/(auth)/api'
import type { TaskLinkView } from '@/server/links/view'
import { LinkPage, Waiting } from '../link-page'
import { Closed } from './closed'

const OpenTask = dynamic(() => loadPart(() => import('./open-task').then((module) => module.OpenTask)), {
  loading: inPlace(<Waiting />),
})
const Receipt = dynamic(() => loadPart(() => import('./receipt').then((module) => module.Receipt)), {
  loading: inPlace(<Waiting />),
})

const UNKNOWN: TaskLinkView = { state: 'unknown' }
const load = (token: string): Promise<TaskLinkView> => call('taskLink', { token })

/** A task, the receipt of its answer, or the reason why it is closed. */
export function TaskLink() {
  return (
    <LinkPage load={load} unknown={UNKNOWN} failed="The task could not be loaded">
      {(view, { token, show }) =>
        view.state === 'open' ? (
          <OpenTask token={token} view={view} onAnswered={show} />
        ) : view.state === 'used' ? (
          <Receipt view={view} />
        ) : (
          <Closed view={view} />
        )
      }
    </LinkPage>
  )
}
