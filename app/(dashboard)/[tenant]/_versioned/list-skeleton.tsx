import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import styles from './list.module.css'

const ROWS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** Placeholder rows of the same height as the real ones. */
export function ListSkeleton() {
  return (
    <div role="status" aria-label="Loading" className={styles.skeleton}>
      {ROWS.map((row) => (
        <Skeleton key={row} height={44} radius="sm" />
      ))}
    </div>
  )
}

/** A list's screen while it loads. */
export function ListLoading({ title }: { title: string }) {
  return (
    <>
      <PageHeader title={title} />
      <PageBody>
        <ListSkeleton />
      </PageBody>
    </>
  )
}
