# --cpu cortex-a55: vectors, of which a board and LLVM differ
	.text
	.global interleave
	.type interleave, %function
interleave:
	ldr q0, [x0]
	ldr q1, [x1]
	trn1 v2.4s, v0.4s, v1.4s
	trn2 v3.4s, v0.4s, v1.4s
	add v2.4s, v2.4s, v3.4s
	str q2, [x2]
	ret
	.size interleave, . - interleave
