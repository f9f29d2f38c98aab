# --cpu rocket: a path through two tests; the first load that is needed waits, and a product's latency is disputed
	.text
	.global path
	.type path, @function
path:
	ld a3, 0(a0)
	beqz a3, 1f
	lw a4, 8(a0)
	mul a4, a4, a1
	add a2, a2, a4
	bltz a2, 1f
	sd a2, 16(a0)
	mv a0, a2
	ret
1:	ebreak
	.size path, . - path
