'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { FileKey2, Plus } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import styles from '../settings.module.css'
import { MintingSnippets } from './minting-snippets'
import { SecretTable } from './secret-table'
import { TokenDebugger } from './token-debugger'

// The list does not need it.
const CreateSecretDialog = dynamic(
  () => loadDialog(() => import('./create-secret-dialog').then((file) => file.CreateSecretDialog)),
  { loading: WaitingDialog },
)

/** The secrets with which customers' backends sign tokens for their users. */
export function SecretList() {
  const trpc = useTRPC()
  const list = useQuery({ ...trpc.secrets.list.queryOptions(), refetchInterval: 15_000 })
  const [creating, setCreating] = useState(false)
  useSingleKeys({ c: () => setCreating(true) })
  return (
    <>
      <PageHeader
        title="Signing secrets"
        actions={
          <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setCreating(true)}>
            New secret
          </Button>
        }
      />
      <PageBody>
        <div className={styles.controls}>
          <span className={styles.quiet}>
            Your backend signs a short-lived token for each of its users. Their browsers use it to call the API.
          </span>
        </div>
        {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Skeleton height={180} radius="md" />}
        {list.data && (
          <>
            {list.data.secrets.length > 0 ? (
              <SecretTable secrets={list.data.secrets} />
            ) : (
              <EmptyState
                icon={FileKey2}
                title="No signing secrets"
                actions={
                  <Button variant="default" onClick={() => setCreating(true)}>
                    New secret
                  </Button>
                }
              >
                You need one only if people call the API from their own browsers. Servers use API keys.
              </EmptyState>
            )}
            <MintingSnippets audience={list.data.audience} />
            <TokenDebugger />
          </>
        )}
      </PageBody>
      {creating && <CreateSecretDialog onClose={() => setCreating(false)} />}
    </>
  )
}
