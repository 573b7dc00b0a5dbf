import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import styles from './versioned.module.css'

export function ScreenSkeleton({ title }: { title: string }) {
  return (
    <>
      <PageHeader title={title} />
      <PageBody>
        <div role="status" aria-label="Loading" className={styles.form}>
          <Skeleton height={36} />
          <Skeleton height={60} />
          <Skeleton height={160} />
          <Skeleton height={60} />
        </div>
      </PageBody>
    </>
  )
}
