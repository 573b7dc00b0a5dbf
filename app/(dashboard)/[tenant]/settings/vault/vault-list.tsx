'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus, Vault } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import type { VaultItem } from '@/server/views/vault'
import styles from '../settings.module.css'
import { DeleteSecretDialog } from './delete-secret-dialog'
import { VaultTable } from './vault-table'
import { VaultWarnings } from './vault-warnings'

// The field for hosts is large, and only opened dialogs need it.
const BindSecretDialog = dynamic(
  () => loadDialog(() => import('./bind-secret-dialog').then((module) => module.BindSecretDialog)),
  { loading: WaitingDialog },
)
const SetSecretDialog = dynamic(
  () => loadDialog(() => import('./set-secret-dialog').then((module) => module.SetSecretDialog)),
  { loading: WaitingDialog },
)

/** Values that tools and agents send to other services. Once saved, they are never shown again. */
export function VaultList() {
  const trpc = useTRPC()
  const list = useQuery(trpc.vault.list.queryOptions())
  const [setting, setSetting] = useState<{ replaces: VaultItem | null } | null>(null)
  const [binding, setBinding] = useState<VaultItem | null>(null)
  const [deleting, setDeleting] = useState<VaultItem | null>(null)
  useSingleKeys({ c: () => setSetting({ replaces: null }) })
  return (
    <>
      <PageHeader
        title="Vault"
        actions={
          <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setSetting({ replaces: null })}>
            New secret
          </Button>
        }
      />
      <PageBody>
        <div className={styles.controls}>
          <span className={styles.quiet}>
            HTTP tools, MCP tools and agents refer to a secret as <code>{'${secrets.NAME}'}</code>. Values are
            encrypted, sent only to the hosts they are bound to, and masked wherever they would appear.
          </span>
        </div>
        {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Skeleton height={180} radius="md" />}
        {list.data &&
          (list.data.length > 0 ? (
            <>
              <VaultWarnings secrets={list.data} />
              <VaultTable
                secrets={list.data}
                onBind={setBinding}
                onReplace={(secret) => setSetting({ replaces: secret })}
                onDelete={setDeleting}
              />
            </>
          ) : (
            <EmptyState
              icon={Vault}
              title="The vault is empty"
              actions={
                <Button variant="default" onClick={() => setSetting({ replaces: null })}>
                  New secret
                </Button>
              }
            >
              Keep passwords and tokens for other services here, so they never appear in a tool’s configuration.
            </EmptyState>
          ))}
      </PageBody>
      {setting && <SetSecretDialog replaces={setting.replaces} onClose={() => setSetting(null)} />}
      {binding && <BindSecretDialog secret={binding} onClose={() => setBinding(null)} />}
      {deleting && <DeleteSecretDialog secret={deleting} onClose={() => setDeleting(null)} />}
    </>
  )
}
