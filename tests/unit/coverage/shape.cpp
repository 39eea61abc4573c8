template <class T> T largest(T a, T b)
{
	if (a < b)
		return b;
	return a;
}

struct shape {
	shape() : sides(0)
	{
	}
	virtual ~shape()
	{
	}
	int sides;
};

int polygon(int n)
{
	shape s;
	s.sides = largest(n, 3);
	return s.sides + (int)largest(n + 0.5, 3.0);
}

void unsure(int n)
{
	for (;;)
		if (n++ > 0x7ffffff0)
			break;
}
