'use client'
import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Plus, Vault } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useSingleKeys } from '@/app/_ui/use-single-keys'
import type { VaultItem } from '@/server/views/vault'
import { useTenant } from '../../tenant-context'
import styles from '../settings.module.css'
import { DeleteSecretDialog } from './delete-secret-dialog'
import { SetSecretDialog } from './set-secret-dialog'
import { VaultTable } from './vault-table'

/** Values that tools send to other services. Once saved, they are never shown again. */
export function VaultList() {
  const trpc = useTRPC()
  const { may } = useTenant()
  const list = useQuery(trpc.vault.list.queryOptions())
  const [setting, setSetting] = useState<{ name: string | null } | null>(null)
  const [deleting, setDeleting] = useState<VaultItem | null>(null)
  const allowed = may('secret:manage')
  useSingleKeys(allowed ? { c: () => setSetting({ name: null }) } : {})
  return (
    <>
      <PageHeader
        title="Vault"
        actions={
          allowed && (
            <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setSetting({ name: null })}>
              Add secret
            </Button>
          )
        }
      />
      <PageBody>
        <div className={styles.controls}>
          <span className={styles.quiet}>
            HTTP and MCP tools refer to a secret as <code>{'${secrets.NAME}'}</code>. Values are encrypted, and masked
            wherever they would appear.
          </span>
        </div>
        {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Skeleton height={180} radius="md" />}
        {list.data &&
          (list.data.length > 0 ? (
            <VaultTable secrets={list.data} onReplace={({ name }) => setSetting({ name })} onDelete={setDeleting} />
          ) : (
            <EmptyState
              icon={Vault}
              title="The vault is empty"
              actions={
                <Button variant="default" onClick={() => setSetting({ name: null })}>
                  Add secret
                </Button>
              }
            >
              Keep passwords and tokens for other services here, so they never appear in a tool’s configuration.
            </EmptyState>
          ))}
      </PageBody>
      {setting && <SetSecretDialog replaces={setting.name} onClose={() => setSetting(null)} />}
      {deleting && <DeleteSecretDialog secret={deleting} onClose={() => setDeleting(null)} />}
    </>
  )
}
