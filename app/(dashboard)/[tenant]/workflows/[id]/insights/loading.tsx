import { Skeleton } from '@mantine/core'
import { PageBody } from '@/app/_ui/page-body'
import { HeaderSkeleton } from '../../header-skeleton'

export default function Loading() {
  return (
    <>
      <HeaderSkeleton here="insights" />
      <PageBody>
        <Skeleton height={96} radius="md" />
        <Skeleton height={220} radius="md" mt="md" />
      </PageBody>
    </>
  )
}
