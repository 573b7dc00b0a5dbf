'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus, Webhook } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import { useUrlState } from '@/app/_ui/use-url-state'
import type { WebhookEndpoint } from '@/server/webhooks/present'
import styles from '../settings.module.css'
import { ShownOnce } from '../shown-once'
import { calledOf } from './called'
import { DeleteWebhookDialog } from './delete-webhook-dialog'
import { DeliveryList } from './delivery-list'
import { RotateDialog } from './rotate-dialog'
import { WebhookDialog } from './webhook-dialog'
import { WebhookTable } from './webhook-table'

type Open =
  | { dialog: 'create' }
  | { dialog: 'edit' | 'rotate' | 'delete'; webhook: WebhookEndpoint }
  | { dialog: 'secret'; called: string; value: string }

/** The URLs that receive run events. The chosen one's deliveries are listed below. */
export function WebhookList() {
  const trpc = useTRPC()
  const { get, set } = useUrlState()
  const list = useQuery({ ...trpc.webhooks.list.queryOptions(), refetchInterval: 5_000 })
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  useSingleKeys({ c: () => setOpen({ dialog: 'create' }) })
  const chosen = list.data?.find(({ id }) => id === get('webhook'))
  return (
    <>
      <PageHeader
        title="Webhooks"
        actions={
          <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setOpen({ dialog: 'create' })}>
            New webhook
          </Button>
        }
      />
      <PageBody>
        <div className={styles.controls}>
          <span className={styles.quiet}>
            Messages follow the Standard Webhooks specification. They are signed, come in order within a run, and are
            sent again for about four days until your service answers with 2xx.
          </span>
        </div>
        {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Skeleton height={180} radius="md" />}
        {list.data &&
          (list.data.length > 0 ? (
            <WebhookTable
              webhooks={list.data}
              chosen={chosen?.id ?? null}
              onChoose={(id) => set({ webhook: id })}
              onOpen={(dialog, webhook) => setOpen({ dialog, webhook })}
            />
          ) : (
            <EmptyState
              icon={Webhook}
              title="No webhooks"
              actions={
                <Button variant="default" onClick={() => setOpen({ dialog: 'create' })}>
                  New webhook
                </Button>
              }
            >
              Notify one of your services when a run waits for someone, completes or fails.
            </EmptyState>
          ))}
        {chosen && <DeliveryList key={chosen.id} webhook={chosen} onClose={() => set({ webhook: null })} />}
      </PageBody>
      {(open?.dialog === 'create' || open?.dialog === 'edit') && (
        <WebhookDialog
          webhook={open.dialog === 'edit' ? open.webhook : null}
          onClose={close}
          onCreated={(made) => setOpen({ dialog: 'secret', called: calledOf(made), value: made.secret })}
        />
      )}
      {open?.dialog === 'rotate' && (
        <RotateDialog
          webhook={open.webhook}
          onClose={close}
          onRotated={(value) => setOpen({ dialog: 'secret', called: calledOf(open.webhook), value })}
        />
      )}
      {open?.dialog === 'delete' && <DeleteWebhookDialog webhook={open.webhook} onClose={close} />}
      {open?.dialog === 'secret' && (
        <ShownOnce title={`The secret of “${open.called}”`} what="secret" value={open.value} onClose={close}>
          <span className={styles.quiet}>
            Your service verifies every message with it; there are libraries for it in most languages.
          </span>
        </ShownOnce>
      )}
    </>
  )
}
