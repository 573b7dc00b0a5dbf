'use client'
import { Button, Skeleton, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { KeyRound, Plus } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import { useUrlState } from '@/app/_ui/use-url-state'
import styles from '../settings.module.css'
import { CreateKeyDialog } from './create-key-dialog'
import { KeyTable } from './key-table'
import { RotateDialog } from './rotate-dialog'

export function KeyList() {
  const trpc = useTRPC()
  const { get, set } = useUrlState()
  const list = useQuery({ ...trpc.keys.list.queryOptions(), refetchInterval: 15_000 })
  const [creating, setCreating] = useState(false)
  const [rotating, setRotating] = useState<{ id: string; name: string } | null>(null)
  useSingleKeys({ c: () => setCreating(true) })
  const all = list.data ?? []
  const gone = all.filter(({ state }) => state === 'disabled' || state === 'replaced')
  const showsGone = get('disabled') === '1'
  const shown = showsGone ? all : all.filter((key) => !gone.includes(key))
  return (
    <>
      <PageHeader
        title="API keys"
        actions={
          <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
            New key
          </Button>
        }
      />
      <PageBody>
        <div className={styles.controls}>
          <span className={styles.quiet}>
            A key goes into the header x-api-key. It is a key of this workspace alone, so x-tenant-id is optional. Use
            keys only on servers.
          </span>
          {gone.length > 0 && (
            <Switch
              label={`Show ${gone.length} that no longer ${gone.length === 1 ? 'works' : 'work'}`}
              checked={showsGone}
              onChange={(event) => set({ disabled: event.currentTarget.checked ? '1' : null })}
            />
          )}
        </div>
        {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Skeleton height={180} radius="md" />}
        {list.data &&
          (shown.length > 0 ? (
            <KeyTable keys={shown} all={all} onRotate={setRotating} />
          ) : (
            <EmptyState
              icon={KeyRound}
              title="No working keys"
              actions={
                <Button variant="default" onClick={() => setCreating(true)}>
                  New key
                </Button>
              }
            >
              Your services need a key to start and answer runs. A key is shown once; only its hash is stored.
            </EmptyState>
          ))}
      </PageBody>
      {(creating || get('new') !== '') && (
        <CreateKeyDialog
          onClose={() => {
            setCreating(false)
            if (get('new')) set({ new: null })
          }}
        />
      )}
      {rotating && <RotateDialog apiKey={rotating} onClose={() => setRotating(null)} />}
    </>
  )
}
