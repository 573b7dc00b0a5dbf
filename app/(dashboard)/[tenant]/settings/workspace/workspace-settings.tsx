'use client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { CopyButton } from '@/app/_ui/copy-button'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { CorsForm } from './cors-form'
import { KeepAuditForm } from './keep-audit-form'
import { KeepRunsForm } from './keep-runs-form'
import { NameForm } from './name-form'
import styles from './workspace.module.css'

export function WorkspaceSettings() {
  const trpc = useTRPC()
  const settings = useQuery(trpc.settings.get.queryOptions())
  return (
    <>
      <PageHeader title="Workspace" />
      <PageBody narrow>
        {settings.error && <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />}
        {settings.isPending && <Skeleton height={240} radius="md" />}
        {settings.data && (
          <div className={styles.parts}>
            <NameForm name={settings.data.name} />
            <dl className={styles.facts}>
              <Fact label="Workspace id" value={settings.data.id}>
                The API calls it the tenant. Callers with a key may send it as x-tenant-id.
              </Fact>
              <Fact label="Address" value={`/${settings.data.slug}`}>
                It stays the same when you rename the workspace, so links keep working.
              </Fact>
            </dl>
            <CorsForm origins={settings.data.corsOrigins} />
            <KeepRunsForm days={settings.data.keepRunsDays} />
            <KeepAuditForm days={settings.data.keepAuditDays} />
          </div>
        )}
      </PageBody>
    </>
  )
}

function Fact({ label, value, children }: { label: string; value: string; children: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        <span className="mono">{value}</span>
        <CopyButton text={value} label={`Copy the ${label.toLowerCase()}`} />
        <div className={styles.quiet}>{children}</div>
      </dd>
    </div>
  )
}
