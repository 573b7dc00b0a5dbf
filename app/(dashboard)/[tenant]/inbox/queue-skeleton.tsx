import { Skeleton } from '@mantine/core'
import styles from './inbox.module.css'

export function QueueSkeleton() {
  return (
    <div className={styles.skeletons} aria-hidden>
      {Array.from({ length: 5 }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all alike
        <Skeleton key={index} height={64} radius="md" />
      ))}
    </div>
  )
}
