CREATE TABLE "sweeps" (
	"name" text PRIMARY KEY NOT NULL,
	"succeeded_at" timestamp (3) with time zone NOT NULL
);
