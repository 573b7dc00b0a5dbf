'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus, Webhook } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { inPlace, loadDialog, loadPart, WaitingDialog } from '@/app/_ui/part'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import { useUrlState } from '@/app/_ui/use-url-state'
import type { InboundItem } from '@/server/views/inbound/browse'
import { ShownOnce } from '../settings/shown-once'
import { useTenant } from '../tenant-context'
import { DeleteInboundDialog } from './delete-inbound-dialog'
import { InboundTable } from './inbound-table'

// The forms are large, and only an opened dialog needs them.
const InboundDialog = dynamic(
  () => loadDialog(() => import('./inbound-dialog').then((module) => module.InboundDialog)),
  { loading: WaitingDialog },
)
const SecretDialog = dynamic(() => loadDialog(() => import('./secret-dialog').then((module) => module.SecretDialog)), {
  loading: WaitingDialog,
})
const TryDialog = dynamic(() => loadDialog(() => import('./try-dialog').then((module) => module.TryDialog)), {
  loading: WaitingDialog,
})
const DeliveryList = dynamic(() => loadPart(() => import('./delivery-list').then((module) => module.DeliveryList)), {
  loading: inPlace(null),
})

type Open =
  | { dialog: 'create' }
  | { dialog: 'edit' | 'try' | 'secret' | 'delete'; webhook: InboundItem }
  | { dialog: 'shown'; name: string; value: string }

/** The URLs at which other systems start workflows. The chosen one's deliveries are listed below. */
export function InboundList() {
  const trpc = useTRPC()
  const { may } = useTenant()
  const { get, set } = useUrlState()
  const list = useQuery({ ...trpc.inbound.list.queryOptions(), refetchInterval: 5_000 })
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const create = () => setOpen({ dialog: 'create' })
  const allowed = may('workflow:publish')
  useSingleKeys(allowed ? { c: create } : {})
  const chosen = allowed ? list.data?.find(({ id }) => id === get('webhook')) : undefined
  return (
    <>
      <PageHeader
        title="Inbound webhooks"
        actions={
          allowed && (
            <Button leftSection={<Plus size={16} aria-hidden />} onClick={create}>
              New inbound webhook
            </Button>
          )
        }
      />
      <PageBody>
        {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Skeleton height={180} radius="md" />}
        {list.data &&
          (list.data.length > 0 ? (
            <InboundTable
              webhooks={list.data}
              chosen={chosen?.id ?? null}
              onChoose={(id) => set({ webhook: id })}
              onOpen={(dialog, webhook) => setOpen({ dialog, webhook })}
            />
          ) : (
            <EmptyState
              icon={Webhook}
              title="No inbound webhooks"
              actions={
                allowed && (
                  <Button variant="default" onClick={create}>
                    New inbound webhook
                  </Button>
                )
              }
            >
              Let another system start a workflow, such as GitHub when someone opens an issue.
            </EmptyState>
          ))}
        {chosen && <DeliveryList key={chosen.id} webhook={chosen} onClose={() => set({ webhook: null })} />}
      </PageBody>
      {(open?.dialog === 'create' || open?.dialog === 'edit') && (
        <InboundDialog
          webhook={open.dialog === 'edit' ? open.webhook : null}
          onClose={close}
          onCreated={({ id, name, secret }) => {
            set({ webhook: id })
            setOpen(secret === null ? null : { dialog: 'shown', name, value: secret })
          }}
        />
      )}
      {open?.dialog === 'try' && <TryDialog webhook={open.webhook} onClose={close} />}
      {open?.dialog === 'secret' && (
        <SecretDialog
          webhook={open.webhook}
          onClose={close}
          onSaved={(secret) =>
            setOpen(secret === null ? null : { dialog: 'shown', name: open.webhook.name, value: secret })
          }
        />
      )}
      {open?.dialog === 'delete' && <DeleteInboundDialog webhook={open.webhook} onClose={close} />}
      {open?.dialog === 'shown' && (
        <ShownOnce title={`The secret of “${open.name}”`} what="secret" value={open.value} onClose={close}>
          <span>Give it to the sender, with the address of the inbound webhook. The sender signs with it.</span>
        </ShownOnce>
      )}
    </>
  )
}
