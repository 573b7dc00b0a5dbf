'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Archive, CirclePlay, FilePenLine } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CopyButton } from '@/app/_ui/copy-button'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { SendingFile } from '@/app/_ui/files/sending-file'
import { Link } from '@/app/_ui/link'
import { Locked } from '@/app/_ui/locked'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import type { Fields } from '@/server/definition/schema'
import type { StartForm as Page } from '@/server/workflows/start-form'
import { StartLinkButton } from '../../_start-links/start-link-button'
import { useOrigin } from '../../_versioned/curl'
import { useTenant } from '../../tenant-context'
import { StartForm } from '../../workflows/start-form'
import { useStart } from '../../workflows/use-start'
import styles from '../start.module.css'
import { Started } from './started'

/** The description of one workflow, and the form that starts it. */
export function StartPage({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC()
  const { path } = useTenant()
  const origin = useOrigin()
  const query = useQuery({
    ...trpc.workflows.startPage.queryOptions({ id: workflowId }),
    // The transport's types cannot express "any JSON".
    select: (data) => data as unknown as Page,
    // The form must not change while people fill it in; a start checks the values again.
    refetchOnWindowFocus: false,
  })
  const page = query.data
  return (
    <>
      <PageHeader
        title={page?.name ?? 'Start'}
        back={{ href: path('/start'), label: 'Start' }}
        actions={
          page?.state === 'open' && (
            <>
              <StartLinkButton workflowId={workflowId} />
              <CopyButton text={`${origin}${path(`/start/${encodeURIComponent(workflowId)}`)}`}>Copy link</CopyButton>
            </>
          )
        }
      />
      <PageBody narrow>
        {query.error && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
        {query.isPending && <Skeleton height={240} radius="md" />}
        {page?.state === 'open' && (
          <div className={styles.page}>
            {page.description && <p className={styles.description}>{page.description}</p>}
            <Starting workflowId={workflowId} fields={page.fields} />
          </div>
        )}
        {page && page.state !== 'open' && <Closed state={page.state} workflowId={workflowId} />}
      </PageBody>
    </>
  )
}

function Starting({ workflowId, fields }: { workflowId: string; fields: Fields }) {
  const [started, setStarted] = useState<string | null>(null)
  if (started !== null) return <Started runId={started} onAgain={() => setStarted(null)} />
  return <FormToStart workflowId={workflowId} fields={fields} onStarted={setStarted} />
}

function FormToStart(props: { workflowId: string; fields: Fields; onStarted: (runId: string) => void }) {
  const { form, submit, busy, error, progress } = useStart({ ...props, version: 'published' })
  return (
    <form onSubmit={submit} noValidate className={styles.page}>
      {Object.keys(props.fields).length > 0 && (
        <Locked locked={busy}>
          <StartForm {...form} types={false} />
        </Locked>
      )}
      {error ? <ErrorState error={error} title="It was not started" /> : null}
      <SendingFile {...progress} />
      <div>
        <Button type="submit" loading={busy} leftSection={<CirclePlay size={16} aria-hidden />}>
          Start
        </Button>
      </div>
    </form>
  )
}

const CLOSED = {
  unpublished: {
    icon: FilePenLine,
    title: 'It has not been published yet',
    text: 'Once it is published, it can be started here.',
  },
  archived: {
    icon: Archive,
    title: 'It was archived',
    text: 'It can no longer be started.',
  },
} as const

function Closed({ state, workflowId }: { state: keyof typeof CLOSED; workflowId: string }) {
  const { may, path } = useTenant()
  const { icon, title, text } = CLOSED[state]
  return (
    <EmptyState
      icon={icon}
      title={title}
      actions={
        may('workflow:publish') && state === 'unpublished' ? (
          <Button variant="default" component={Link} href={path(`/workflows/${encodeURIComponent(workflowId)}`)}>
            Open in the editor
          </Button>
        ) : (
          <Button variant="default" component={Link} href={path('/start')}>
            What you may start
          </Button>
        )
      }
    >
      {text}
    </EmptyState>
  )
}
